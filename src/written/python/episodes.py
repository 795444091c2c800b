"""What runs beside a person's environment in the same interpreter: it makes episodes of their class, calls its methods and writes down
what came of it, as inside.js does for a class in TypeScript. The host checks every reply, because a person's file can change anything here."""

import json
import math
import random
import sys
import types

FILE = "environment.py"
LONGEST = 4000  # characters of one text
LONGEST_KEY = 200  # characters of a state's key
MOST_NAMED = 64  # named parts of a reward, or arguments of a call
MOST_ROWS = 30
MOST_COLUMNS = 30
MOST_CELL = 60
MOST_MARKS = 12
MOST_VIEW = 2000
# errors that programs make by mistake
BUGS = (TypeError, NameError, AttributeError, LookupError, ArithmeticError, RecursionError, ImportError, MemoryError)
SPLITS = ("train", "test")
TOO_LONG = "computed too long and was stopped."
WHERE = {
    "open": "reset()",
    "call": "A tool",
    "answer": "_answer()",
    "expert": "_expert()",
    "observe": "_observe()",
    "reward": "get_reward()",
    "close": "The end of an episode",
}


class Fault(Exception):
    """Something that the environment does wrong."""


def kind(value):
    """How an error names a value."""
    return "None" if value is None else type(value).__name__


def words_of(error):
    """What an exception says, as TRL does; its kind where it says nothing."""
    try:
        return str(error)[:LONGEST] or type(error).__name__
    except KeyboardInterrupt:
        raise  # the time is up, whatever runs
    except BaseException:
        return "It raised something without words."


def line_of(error):
    """The line of the environment's file that an exception came from, the innermost one; None where it came from elsewhere."""
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return error.lineno
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def problem(where, error):
    """A reply that says what an environment does wrong, and where."""
    if isinstance(error, Fault):
        return {"problem": words_of(error), "line": None}
    if isinstance(error, KeyboardInterrupt):
        return {"problem": f"{where} {TOO_LONG}", "line": line_of(error)}
    name = "" if isinstance(error, (ValueError, RuntimeError)) else f"{type(error).__name__}: "
    try:
        return {"problem": f"{where} failed: {name}{words_of(error)}"[:LONGEST], "line": line_of(error)}
    except KeyboardInterrupt as late:
        return problem(where, late)


def text_of(where, value):
    """A text that an episode may have, cut where it is long."""
    if not isinstance(value, str):
        raise Fault(f"{where} returned {kind(value)}. Return a string.")
    reply = {"text": value[:LONGEST]}
    if len(value) > LONGEST:
        reply["cut"] = len(value)
    return reply


def number(value):
    """A finite number; None for anything else."""
    if not isinstance(value, (int, float)):
        return None
    value = float(value)
    return value if math.isfinite(value) else None


def hook(environment, name):
    """A method that the class may have, under a name that TRL takes for no tool; None where it has none."""
    found = getattr(environment, name, None)
    return found if callable(found) else None


def cells(rows):
    """Rows of short texts; None where they are too many, or no rows."""
    if not isinstance(rows, (list, tuple)) or not 0 < len(rows) <= MOST_ROWS:
        return None
    if not all(isinstance(row, (list, tuple, str)) and 0 < len(row) <= MOST_COLUMNS for row in rows):
        return None
    return [[str(cell)[:MOST_CELL] for cell in row] for row in rows]


def shown_by(environment):
    """What _view() shows, as plain data; nothing where the class has none."""
    view = hook(environment, "_view")
    if view is None:
        return {}
    shown = view()
    named = shown if isinstance(shown, dict) else {"text": shown}
    if isinstance(named.get("text"), str):
        return {"shown": {"kind": "text", "text": named["text"][:MOST_VIEW]}}
    for name in ("table", "grid"):
        rows = cells(named.get(name))
        if rows is not None:
            return {"shown": {"kind": name, "rows": rows}}
    line = named.get("line")
    if isinstance(line, dict):
        begin, end = number(line.get("from")), number(line.get("to"))
        marks = line.get("marks") or {}
        if begin is not None and end is not None and begin < end and isinstance(marks, dict):
            places = [(str(name)[:MOST_CELL], number(at)) for name, at in list(marks.items())[:MOST_MARKS]]
            found = [{"name": name, "at": at} for name, at in places if at is not None]
            return {"shown": {"kind": "line", "from": begin, "to": end, "marks": found}}
    raise Fault(
        f"_view() returned {kind(shown)}. Return a string, {{'table': rows}}, {{'grid': rows}} of at most {MOST_ROWS} rows and "
        f"{MOST_COLUMNS} columns, or {{'line': {{'from': …, 'to': …, 'marks': …}}}}."
    )


def named(values, allowed):
    """A dictionary with few and short names, and values of these kinds; None for anything else."""
    if not isinstance(values, dict) or len(values) > MOST_NAMED:
        return None
    for name, value in values.items():
        if not isinstance(name, str) or len(name) > LONGEST_KEY or not isinstance(value, allowed):
            return None
        if (isinstance(value, str) and len(value) > LONGEST) or (isinstance(value, float) and not math.isfinite(value)):
            return None
    return dict(values)


class Episodes:
    """The episodes of one class. Each has the generator of the module `random` to itself."""

    def __init__(self, environment_class, tools):
        self.environment_class = environment_class
        self.tools = tools  # names of each one's parameters
        self.open = {}  # by number: the environment, and the state of its generator

    def statics(self):
        """What the class says in its own fields."""
        found = {}
        tasks = getattr(self.environment_class, "tasks", None)
        if isinstance(tasks, dict):
            found["tasks"] = {
                split: len(tasks[split]) if isinstance(tasks[split], (list, tuple)) else tasks[split]
                for split in SPLITS
                if split in tasks
            }
        for own, name in (("max_turns", "maxTurns"), ("weights", "weights")):
            value = getattr(self.environment_class, own, None)
            if value is not None:
                found[name] = value
        return json.loads(json.dumps(found, default=kind, allow_nan=False))

    def row(self, split, index):
        """What reset() is given: the row of a list of tasks as it is, and of the rest as much as reset() takes."""
        tasks = getattr(self.environment_class, "tasks", None)
        rows = tasks.get(split) if isinstance(tasks, dict) else None
        own = rows[index] if isinstance(rows, (list, tuple)) else {}
        if not isinstance(own, dict):
            raise Fault(f"tasks['{split}'][{index}] is {kind(own)}. Write a dictionary: reset() gets its entries by name.")
        seed = 2 * index + SPLITS.index(split)
        more = {"prompt": [{"role": "user", "content": ""}], "split": split, "index": index, "seed": seed}
        code = self.environment_class.reset.__code__
        taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        everything = code.co_flags & 0x08  # it has **kwargs
        return {**{name: value for name, value in more.items() if everything or name in taken}, **own}

    def begin(self, id, split, index, chance):
        """A new episode; the same chance gives the same one."""
        random.seed("/".join(str(part) for part in chance))
        row = self.row(split, index)
        environment = self.environment_class()
        said = environment.reset(**row)
        given = row.get("prompt", "")
        before = given if isinstance(given, str) else "\n\n".join(str(message["content"]) for message in given)
        if said is None and before == "":
            raise Fault("reset() returned None, and the task has no prompt. Return a string.")
        reply = text_of("reset()", before + said if isinstance(said, str) else before if said is None else said)
        reply.update(shown_by(environment))
        self.open[id] = (environment, random.getstate())
        return reply

    def call(self, environment, tool, values):
        try:
            method = getattr(environment, tool)
            reply = {"text": str(method(**dict(zip(self.tools[tool], values))))}
        except Exception as error:
            reply = {"refused": str({"error": words_of(error)})[:LONGEST], "line": line_of(error)}
            if isinstance(error, BUGS):
                reply["bug"] = True
        if "text" in reply:
            reply = text_of(f"{tool}()", reply["text"])
        reply["over"] = getattr(environment, "done", False) is True
        state_key = hook(environment, "_state_key")
        if state_key is not None:
            state = state_key()
            if not isinstance(state, str) or len(state) > LONGEST_KEY:
                is_it = f"{len(state)} characters" if isinstance(state, str) else kind(state)
                raise Fault(f"_state_key() returned {is_it}. Return a string of at most {LONGEST_KEY} characters.")
            reply["state"] = state
        turn_reward = hook(environment, "_turn_reward")
        if turn_reward is not None:
            paid = turn_reward()
            reply["paid"] = number(paid)
            if reply["paid"] is None:
                raise Fault(f"_turn_reward() returned {str(paid)[:LONGEST_KEY]}. Return a finite number.")
        reply.update(shown_by(environment))
        return reply

    def answer(self, environment, text):
        answer = hook(environment, "_answer")
        if answer is not None:
            answer(text)
        return {"text": "", "over": True}

    def expert(self, environment):
        expert = hook(environment, "_expert")
        if expert is None:
            return {"none": True}
        move = expert()
        if isinstance(move, str):
            return {"answer": move[:LONGEST]}
        if not isinstance(move, (list, tuple)) or len(move) != 2 or not isinstance(move[0], str):
            raise Fault("_expert() has to return the name of a tool with its arguments, such as ('guess', {'word': 'cat'}), or a string.")
        values = named(move[1], (str, int, float, bool))
        if values is None or len(move[0]) > LONGEST_KEY:
            raise Fault("_expert() has to name its arguments. Each has to be a string, a number or a boolean.")
        return {"tool": move[0], "values": values}

    def observe(self, environment, history):
        observe = hook(environment, "_observe")
        return {"none": True} if observe is None else text_of("_observe()", observe(history))

    def reward(self, environment):
        earned = environment.get_reward()
        parts = dict(earned) if isinstance(earned, dict) else {"reward": earned}
        if len(parts) > MOST_NAMED or not all(isinstance(name, str) and len(name) <= LONGEST_KEY for name in parts):
            raise Fault(f"get_reward() returned {kind(earned)}. Return a number, or a dictionary of up to {MOST_NAMED} named numbers.")
        for name, value in parts.items():
            parts[name] = number(value)
            if parts[name] is None:
                raise Fault(f"get_reward() gives {name} = {str(value)[:LONGEST_KEY]}. Return a finite number.")
        return {"parts": parts}

    def serve(self, op, id, request):
        if op == "close":
            self.open.pop(id, None)
            return {}
        if op == "open":
            return self.begin(id, request["split"], request["index"], request["chance"])
        environment, generator = self.open[id]
        random.setstate(generator)
        try:
            if op == "expert":
                random.seed("/".join(str(part) for part in request["chance"]))
                return self.expert(environment)
            if op == "call":
                return self.call(environment, request["tool"], request["values"])
            if op == "answer":
                return self.answer(environment, request["text"])
            if op == "observe":
                return self.observe(environment, request["history"])
            return self.reward(environment)
        finally:
            if op != "expert":  # asking the expert doesn't change the episode's chance
                self.open[id] = (environment, random.getstate())


def without_doors():
    """Python can't import the modules that lead to JavaScript. They would lead to nothing: the thread has no network, storage or files."""
    for name in list(sys.modules):
        if name in ("js", "pyodide_js", "_pyodide_core", "pyodide") or name.startswith(("pyodide.", "_pyodide")):
            sys.modules[name] = None
    sys.modules["js"] = sys.modules["pyodide"] = sys.modules["pyodide_js"] = None


def playground(begin):
    """Returns what answers the host: a text that loads a class, or a list of requests."""
    without_doors()
    episodes = None
    loads, dumps = json.loads, json.dumps

    def load(source, name, tools):
        nonlocal episodes
        module = types.ModuleType("environment")
        sys.modules["environment"] = module  # dataclasses look their module up
        try:
            exec(compile(source, FILE, "exec", dont_inherit=True), module.__dict__)
            found = module.__dict__.get(name)
            if not isinstance(found, type):
                raise Fault(f"The file ran, but then {name} isn’t a class.")
            episodes = Episodes(found, tools)
            return {"statics": episodes.statics()}
        except BaseException as error:
            told = problem("The file", error)
            if isinstance(error, ModuleNotFoundError):
                told["problem"] = f"The file imports {error.name}. Only Python’s standard library is here."
            return told

    def served(request):
        begin()
        where = WHERE[request["op"]]
        try:
            return episodes.serve(request["op"], request["id"], request)
        except BaseException as error:
            return problem(where, error)

    def answer(text):
        asked = loads(text)
        if isinstance(asked, dict):
            begin()
            return dumps(load(**asked))
        return dumps([served(request) for request in asked])

    return answer


playground
