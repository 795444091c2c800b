"""This program runs in the same interpreter as a person's environment. It makes episodes of their class, calls its methods and returns the
results, as inside.js does for a class in TypeScript. The host checks every reply, because a person's file can change anything here."""

import array
import ast
import asyncio
import collections
import enum
import functools
import inspect
import itertools
import json
import marshal
import math
import random
import sys
import types

FILE = "environment.py"
MAX_TEXT = 4000  # characters of one text
MAX_KEY = 200  # characters of a state's key
MAX_NAMED = 64  # named parts of a reward, or arguments of a call
MAX_REWARD = 1e6  # as in src/domain/rewardLimit.ts
MAX_ROWS = 30
MAX_COLUMNS = 30
MAX_CELL = 60
MAX_MARKS = 12
MAX_VIEW = 2000
MAX_DEPTH = 8  # of lists in an argument
# exceptions that probably mean a mistake in the code
BUGS = (TypeError, NameError, AttributeError, LookupError, ArithmeticError, RecursionError, ImportError, MemoryError)
SPLITS = ("train", "test")
PLAIN = (list, dict, tuple, set, frozenset, str, bytes, bytearray, int, float, array.array, types.NoneType)
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
    """A mistake of the environment. `line` is its place in the file, if it's known."""

    def __init__(self, what, line=None):
        super().__init__(what)
        self.line = line


def kind(value):
    """The name of a value's type, for messages."""
    return "None" if value is None else type(value).__name__


def words_of(error):
    """The message of an exception, as TRL shows it; the exception's type if it has no message."""
    try:
        return str(error)[:MAX_TEXT] or type(error).__name__
    except KeyboardInterrupt:
        raise  # the time is up, whatever runs
    except BaseException:
        return "It raised something without words."


def line_of(error):
    """The innermost line of the environment's file that raised an exception; None if it came from elsewhere."""
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
    """A reply with a mistake of the environment and its place."""
    if isinstance(error, Fault):
        return {"problem": words_of(error), "line": error.line}
    if isinstance(error, KeyboardInterrupt):
        return {"problem": f"{where} {TOO_LONG}", "line": line_of(error)}
    name = "" if isinstance(error, (ValueError, RuntimeError)) else f"{type(error).__name__}: "
    try:
        return {"problem": f"{where} failed: {name}{words_of(error)}"[:MAX_TEXT], "line": line_of(error)}
    except KeyboardInterrupt as late:
        return problem(where, late)


def text_of(where, value):
    """A reply with a text, which is cut if it is too long. Raises Fault if the value is not a string."""
    if not isinstance(value, str):
        raise Fault(f"{where} returned {kind(value)}. Return a string.")
    reply = {"text": value[:MAX_TEXT]}
    if len(value) > MAX_TEXT:
        reply["cut"] = len(value)
    return reply


def number(value):
    """A finite number; None for anything else."""
    if not isinstance(value, (int, float)):
        return None
    try:
        value = float(value) + 0.0  # -0.0 becomes 0.0, as in the JSON of a class in TypeScript
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def reward_number(value):
    """A number that a reward may be; None for anything else."""
    value = number(value)
    return value if value is not None and abs(value) <= MAX_REWARD else None


class Loop(asyncio.BaseEventLoop):
    """Runs coroutines without a clock: waiting takes no time, but everything happens in the same order."""

    now = 0.0

    def __init__(self):
        super().__init__()
        self._selector = self

    def time(self):
        return self.now

    def select(self, timeout):
        if timeout is None:
            raise Fault("An async method waits for something that never comes. Only asyncio’s own functions work here.")
        self.now += timeout
        return []

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass


class LoopPolicy:
    """Gives asyncio these loops. Pyodide's own use JavaScript."""

    def new_event_loop(self):
        return Loop()

    get_event_loop = new_event_loop

    def set_event_loop(self, loop):
        pass


def settled(value, **_):
    """The result of a coroutine, which runs to its end. Any other value unchanged."""
    if not isinstance(value, types.CoroutineType):
        return value
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    loop = Loop()
    try:
        return loop.run_until_complete(value)
    finally:
        loop.close()
        asyncio._set_running_loop(running)


def joined(content):
    """The text of a message’s content: a string, or TRL’s list of blocks. Anything else unchanged."""
    if not isinstance(content, list) or not content or not all(isinstance(block, dict) and "type" in block for block in content):
        return content
    for block in content:
        if block["type"] != "text":
            raise Fault(f"A text has a block of type {str(block['type'])[:MAX_KEY]}. An agent reads text only here.")
    return "".join(str(block.get("text", "")) for block in content)


def typed(value, schema):
    """A value from JSON with the types of its hint: JSON doesn’t tell 2.0 from 2, so where a float is wanted, it becomes one."""
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds or []
    if isinstance(value, list):
        lists = [each for each in (schema, *schema.get("anyOf", ())) if each.get("type") == "array"]
        first = lists[0] if lists else {}
        fixed = first.get("prefixItems") or [first.get("items", {})] * len(value)
        return [typed(item, one) for item, one in zip(value, fixed)]
    if isinstance(value, dict):
        return {name: typed(item, schema.get("additionalProperties", {})) for name, item in value.items()}
    kinds = kinds or [each.get("type") for each in schema.get("anyOf", ())]
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_whole and "number" in kinds and "integer" not in kinds and "enum" not in schema else value


def hook(environment, name):
    """An optional method of the class, whose name begins with _ so that TRL doesn't take it for a tool; None if the class doesn't have it."""
    found = getattr(environment, name, None)
    return found if callable(found) else None


def cells(rows):
    """Converts rows to lists of short texts; None if these are not rows, or too many."""
    if not isinstance(rows, (list, tuple)) or not 0 < len(rows) <= MAX_ROWS:
        return None
    if not all(isinstance(row, (list, tuple, str)) and 0 < len(row) <= MAX_COLUMNS for row in rows):
        return None
    return [[str(cell)[:MAX_CELL] for cell in row] for row in rows]


def shown_by(environment):
    """The result of _view() as plain data; empty if the class has no _view()."""
    view = hook(environment, "_view")
    if view is None:
        return {}
    shown = view()
    named = shown if isinstance(shown, dict) else {"text": shown}
    if isinstance(named.get("text"), str):
        return {"shown": {"kind": "text", "text": named["text"][:MAX_VIEW]}}
    for name in ("table", "grid"):
        rows = cells(named.get(name))
        if rows is not None:
            return {"shown": {"kind": name, "rows": rows}}
    line = named.get("line")
    if isinstance(line, dict):
        begin, end = number(line.get("from")), number(line.get("to"))
        marks = line.get("marks") or {}
        if begin is not None and end is not None and begin < end and isinstance(marks, dict):
            places = [(str(name)[:MAX_CELL], number(at)) for name, at in list(marks.items())[:MAX_MARKS]]
            found = [{"name": name, "at": at} for name, at in places if at is not None]
            return {"shown": {"kind": "line", "from": begin, "to": end, "marks": found}}
    raise Fault(
        f"_view() returned {kind(shown)}. Return a string, {{'table': rows}}, {{'grid': rows}} of at most {MAX_ROWS} rows and "
        f"{MAX_COLUMNS} columns, or {{'line': {{'from': …, 'to': …, 'marks': …}}}}."
    )


def plain(value, depth=0):
    """A value as JSON has it; an enum's member becomes its value. Raises ValueError if JSON has no such value, or it is too large."""
    if isinstance(value, enum.Enum):
        value = value.value
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, str) and len(value) <= MAX_TEXT:
        return value
    if isinstance(value, (list, tuple)) and len(value) <= MAX_TEXT and depth < MAX_DEPTH:
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, dict) and len(value) <= MAX_NAMED and depth < MAX_DEPTH:
        if all(isinstance(name, str) and len(name) <= MAX_KEY for name in value):
            return {name: plain(item, depth + 1) for name, item in value.items()}
    raise ValueError("not a value of JSON")


def named(values):
    """Copies a dictionary of arguments. None unless its names are few and short and JSON has its values."""
    try:
        return plain(values) if isinstance(values, dict) else None
    except ValueError:
        return None


def reward_functions(module):
    """The functions of a file that TRL calls with the environments: `def reward_func(environments, **kwargs)`."""
    functions = [each for each in module.__dict__.values() if isinstance(each, types.FunctionType) and each.__module__ == module.__name__]
    return [each for each in functions if "environments" in inspect.signature(each).parameters]


def flat(dictionary):
    """The names and values of a dictionary in one list."""
    return [part for item in dictionary.items() for part in item]


class SharedState:
    """What a file's module and classes hold. All episodes share it, so none may change it. Python can't freeze it, so it is compared with
    what it was after loading. Not compared are the caches of functools, which change no result, what reading adds to a defaultdict, and what is
    inside of other modules' objects, such as itertools.cycle."""

    def __init__(self, module, source):
        self.module = module
        self.source = source
        self.reached = {}  # by id; it keeps what was reached, so that no new object gets its id
        self.first = dict(self.parts(self.reached))
        size = sum(len(fact) if isinstance(fact, bytes) else 100 for facts in self.first.values() for fact in facts)
        self.every = 32 + size // 1000  # comparing takes time, so it is done seldom; in the first episodes more often
        self.ended = 0

    def compare(self):
        """Called at the end of each episode. Raises Fault if an episode changed what all episodes share."""
        self.ended += 1
        if self.ended % self.every and self.ended & (self.ended - 1):  # not a power of two either
            return
        now = dict(self.parts({}))
        for name in {**now, **self.first}:
            if self.first.get(name) != now.get(name):
                what = f"All episodes share `{name}`, and an episode changed it. Keep it in self and set it in reset()."
                raise Fault(what, self.line_of_change(name.rpartition(".")[2]))

    def parts(self, reached):
        """The names of the module and of its classes, each with what it holds, as facts that can be compared."""
        for name, value in list(vars(self.module).items()):
            if self.is_own(value):
                for attribute, inner in list(vars(value).items()):
                    is_method = isinstance(inner, types.FunctionType) and attribute != "__annotate_func__"
                    if is_method or not attribute.startswith("__"):  # Python itself sets the others
                        yield f"{name}.{attribute}", self.facts(inner, reached)
            if not name.startswith("__"):
                yield name, self.facts(value, reached)

    def facts(self, root, reached):
        """All that can be reached from a value: plain data as bytes, and of anything else the id."""
        facts, lists = [], [[root]]
        for values in lists:
            facts.append(len(values))
            for value in values:
                try:
                    facts.append(marshal.dumps(value, 0) if isinstance(value, PLAIN) else id(value))
                    if isinstance(value, PLAIN):
                        continue
                except ValueError:  # it holds something that isn't plain
                    facts.append(id(value))
                if id(value) not in reached:
                    reached[id(value)] = value
                    lists.append(self.inside(value))
        return facts

    def is_own(self, value):
        return isinstance(value, type) and value.__module__ == self.module.__name__ and not issubclass(value, enum.Enum)

    def inside(self, value):
        """The values that a value holds."""
        held = []
        if self.is_own(type(value)) or isinstance(value, types.SimpleNamespace):
            slots = [slot for each in type(value).__mro__ for slot in getattr(each, "__slots__", ())]
            held = [*flat(getattr(value, "__dict__", {})), *(getattr(value, slot, None) for slot in slots)]
        match value:
            case dict():
                empty = getattr(value, "default_factory", None)
                return held + flat({key: item for key, item in value.items() if item or type(item) is not empty})
            case list() | tuple() | set() | frozenset() | collections.deque():
                return held + list(value)
            case types.FunctionType() if value.__globals__ is vars(self.module):
                cells = [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]
                return [value.__code__, value.__defaults__, value.__kwdefaults__, *flat(vars(value)), *cells]
            case type() if self.is_own(value):
                return flat({name: item for name, item in vars(value).items() if not name.startswith("__")})
            case staticmethod() | classmethod() | functools._lru_cache_wrapper():
                return [value.__wrapped__]
            case property():
                return [value.fget, value.fset]
            case functools.partial():
                return [value.func, value.args, value.keywords]
            case types.MethodType():
                return [value.__func__, value.__self__]
            case random.Random() if value is not random._inst:
                return [value.getstate()]
            case types.GeneratorType() if value.gi_frame:
                return [value.gi_frame.f_lasti, *value.gi_frame.f_locals.values()]
            case itertools.count():
                return [repr(value)]
        return held

    def line_of_change(self, name):
        """The first line where a function sets a variable or attribute of this name, or calls a method of it; else where the file has it first."""

        def is_it(node):
            return name in (getattr(node, "id", None), getattr(node, "attr", None), getattr(node, "name", None))

        def is_set(node):
            return isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)) and any(map(is_it, ast.walk(node)))

        def is_called(node):
            return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and any(map(is_it, ast.walk(node.func.value)))

        nodes = list(ast.walk(ast.parse(self.source)))
        inner = [each for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for part in node.body for each in ast.walk(part)]
        for found in filter(is_set, inner), filter(is_called, inner), filter(is_it, nodes):
            line = min((node.lineno for node in found), default=None)
            if line is not None:
                return line
        return None


class Episodes:
    """The episodes of one class. Each has its own state of the generator in the module `random`."""

    def __init__(self, environment_class, tools, functions, shared):
        self.environment_class = environment_class
        self.tools = tools  # for each tool the schemas of its parameters, by name
        self.functions = functions  # the file's reward functions
        self.shared = shared
        self.open = {}  # by id: the environment, and the state of its random generator
        self.seen = {}  # by id: the task's row and the messages so far, for reward functions

    def statics(self):
        """The settings in the class's own fields."""
        found = {}
        tasks = getattr(self.environment_class, "tasks", None)
        if isinstance(tasks, dict):
            found["tasks"] = {
                split: len(tasks[split]) if isinstance(tasks[split], (list, tuple)) else tasks[split]
                for split in SPLITS
                if split in tasks
            }
        for attribute, name in (("max_turns", "maxTurns"), ("weights", "weights")):
            value = getattr(self.environment_class, attribute, None)
            if value is not None:
                found[name] = value
        return json.loads(json.dumps(found, default=kind), parse_constant=str)  # NaN and infinity stay as text, for the message

    def row(self, split, index):
        """The arguments of reset(): the entries of the task's row, and of the other arguments those that reset() accepts."""
        tasks = getattr(self.environment_class, "tasks", None)
        rows = tasks.get(split) if isinstance(tasks, dict) else None
        row_values = rows[index] if isinstance(rows, (list, tuple)) else {}
        if not isinstance(row_values, dict):
            raise Fault(f"tasks['{split}'][{index}] is {kind(row_values)}. Write a dictionary: reset() gets its entries by name.")
        seed = 2 * index + SPLITS.index(split)
        arguments = {"prompt": [{"role": "user", "content": ""}], "split": split, "index": index, "seed": seed}
        code = self.environment_class.reset.__code__
        taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        everything = code.co_flags & 0x08  # it has **kwargs
        return {**{name: value for name, value in arguments.items() if everything or name in taken}, **row_values}

    def begin(self, id, split, index, chance):
        """Begins a new episode. The same `chance` gives the same episode."""
        random.seed("/".join(str(part) for part in chance))
        row = self.row(split, index)
        environment = self.environment_class()
        reset_text = joined(settled(environment.reset(**row)))
        prompt = row.get("prompt", "")
        prompt_text = prompt if isinstance(prompt, str) else "\n\n".join(str(joined(message["content"])) for message in prompt)
        if reset_text is None and prompt_text == "":
            raise Fault("reset() returned None, and the task has no prompt. Return a string.")
        reply = text_of(
            "reset()",
            prompt_text + reset_text if isinstance(reset_text, str) else prompt_text if reset_text is None else reset_text,
        )
        reply.update(shown_by(environment))
        self.open[id] = (environment, random.getstate())
        if self.functions:
            self.seen[id] = (row, [])
        return reply

    def arguments(self, tool, values):
        """The arguments of a call, with the types of their hints."""
        return {name: typed(value, self.tools.get(tool, {}).get(name, {})) for name, value in values.items()}

    def call(self, environment, tool, values):
        try:
            reply = {"text": str(joined(settled(getattr(environment, tool)(**self.arguments(tool, values)))))}
        except Fault:
            raise
        except Exception as error:
            reply = {"refused": str({"error": words_of(error)})[:MAX_TEXT], "line": line_of(error)}
            if isinstance(error, BUGS):
                reply["bug"] = True
        if "text" in reply:
            reply = text_of(f"{tool}()", reply["text"])
        done = getattr(environment, "done", False)
        reply["over"] = bool(done) and not callable(done)
        state_key = hook(environment, "_state_key")
        if state_key is not None:
            state = state_key()
            if not isinstance(state, str) or len(state) > MAX_KEY:
                is_it = f"{len(state)} characters" if isinstance(state, str) else kind(state)
                raise Fault(f"_state_key() returned {is_it}. Return a string of at most {MAX_KEY} characters.")
            reply["state"] = state
        turn_reward = hook(environment, "_turn_reward")
        if turn_reward is not None:
            turn_reward_value = turn_reward()
            reply["paid"] = reward_number(turn_reward_value)
            if reply["paid"] is None:
                raise Fault(f"_turn_reward() returned {str(turn_reward_value)[:MAX_KEY]}. Return a number up to a million.")
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
            return {"answer": move[:MAX_TEXT]}
        if not isinstance(move, (list, tuple)) or len(move) != 2 or not isinstance(move[0], str):
            raise Fault("_expert() has to return the name of a tool with its arguments, such as ('guess', {'word': 'cat'}), or a string.")
        values = named(move[1])
        if values is None or len(move[0]) > MAX_KEY:
            raise Fault("_expert() has to name its arguments. Each has to be a value that JSON has: a string, a number, a list.")
        return {"tool": move[0], "values": values}

    def observe(self, environment, history):
        observe = hook(environment, "_observe")
        if observe is None:
            return {"none": True}
        past = [{**turn, "arguments": self.arguments(turn["tool"], turn["arguments"])} for turn in history]
        return text_of("_observe()", observe(past))

    def reward(self, environment, id):
        parts = {}
        if hook(environment, "get_reward") is not None:
            earned = settled(environment.get_reward())
            parts = dict(earned) if isinstance(earned, dict) else {"reward": earned}
            if len(parts) > MAX_NAMED or not all(isinstance(name, str) and len(name) <= MAX_KEY for name in parts):
                raise Fault(f"get_reward() returned {kind(earned)}. Return a number, or a dictionary of up to {MAX_NAMED} named numbers.")
        for function in self.functions:
            parts[function.__name__[:MAX_KEY]] = self.earned(function, environment, id)
        for name, value in parts.items():
            parts[name] = 0.0 if value is None else reward_number(value)  # None: no reward yet, which TRL counts as 0
            if parts[name] is None:
                raise Fault(f"{self.rewarding()} gives {name} = {str(value)[:MAX_KEY]}. Return a number up to a million.")
        return {"parts": parts}

    def rewarding(self):
        """What pays the reward, for messages."""
        if callable(getattr(self.environment_class, "get_reward", None)) or not self.functions:
            return "get_reward()"
        return f"{self.functions[0].__name__}()"

    def earned(self, function, environment, id):
        """The reward that a function gives one episode. It gets what TRL passes, in lists of one."""
        row, messages = self.seen[id]
        columns = {name: [value] for name, value in row.items()}
        given = {"prompts": [row.get("prompt", "")], "completions": [messages], "completion_ids": [[]], "environments": [environment]}
        given = {**columns, **given, "trainer_state": None, "log_extra": lambda *_: None, "log_metric": lambda *_: None}
        accepted = inspect.signature(function).parameters
        everything = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in accepted.values())
        rewards = settled(function(**{name: value for name, value in given.items() if everything or name in accepted}))
        if not isinstance(rewards, (list, tuple)) or len(rewards) != 1:
            raise Fault(f"{function.__name__}() returned {kind(rewards)}. Return a list with one reward for each of the environments.")
        return rewards[0]

    def note(self, id, request, reply):
        """Keeps the messages of an episode, as TRL hands them to a reward function."""
        if id not in self.seen or "problem" in reply:
            return
        messages = self.seen[id][1]
        if request["op"] == "answer":
            messages.append({"role": "assistant", "content": request["text"]})
            return
        function = {"name": request["tool"], "arguments": request["values"]}
        messages.append({"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]})
        messages.append({"role": "tool", "name": request["tool"], "content": reply.get("text", reply.get("refused", ""))})

    def serve(self, op, id, request):
        if op == "close":
            self.open.pop(id, None)
            self.seen.pop(id, None)
            return {}
        if op == "open":
            return self.begin(id, request["split"], request["index"], request["chance"])
        environment, generator = self.open[id]
        random.setstate(generator)
        try:
            if op == "expert":
                random.seed("/".join(str(part) for part in request["chance"]))
                return self.expert(environment)
            if op in ("call", "answer"):
                reply = self.call(environment, request["tool"], request["values"]) if op == "call" else self.answer(environment, request["text"])
                self.note(id, request, reply)
                return reply
            if op == "observe":
                return self.observe(environment, request["history"])
            reply = self.reward(environment, id)
            self.shared.compare()
            return reply
        finally:
            if op != "expert":  # asking the expert doesn't change the episode's random numbers
                self.open[id] = (environment, random.getstate())


def without_doors():
    """Blocks imports of the modules that give access to JavaScript, so that a file that needs them fails with a message. A file can undo this.
    interpreter.ts refuses what these modules would do."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "JsFinder"]
    asyncio.run = settled
    asyncio.events._event_loop_policy = LoopPolicy()
    asyncio._set_running_loop(None)  # Pyodide's own, which runs always
    for name in list(sys.modules):
        if name in ("js", "pyodide_js", "_pyodide_core", "pyodide") or name.startswith(("pyodide.", "_pyodide")):
            sys.modules[name] = None
    sys.modules["js"] = sys.modules["pyodide"] = sys.modules["pyodide_js"] = None


class Work:
    """Counts the calls and loop turns of Python code, except those of this file. Counting slows Python down, so it is off at first."""

    TOOL = sys.monitoring.PROFILER_ID

    def __init__(self):
        self.done = 0

    def count(self, on):
        """Begins to count, or ends it. Returns what was counted before."""
        before, self.done = self.done, 0
        if not on:
            sys.monitoring.free_tool_id(self.TOOL)
            return before
        events = (sys.monitoring.events.PY_START, sys.monitoring.events.PY_RESUME, sys.monitoring.events.JUMP)
        sys.monitoring.use_tool_id(self.TOOL, "playground")
        for event in events:
            sys.monitoring.register_callback(self.TOOL, event, self.add)
        sys.monitoring.set_events(self.TOOL, sum(events))
        return before

    def add(self, code, *_):
        if code.co_filename == Work.add.__code__.co_filename:
            return sys.monitoring.DISABLE  # at this place of the code
        self.done += 1


def playground(begin):
    """Returns a function that answers the host's messages. A message loads a class, or is a list of requests."""
    without_doors()
    episodes = None
    work = Work()
    loads, dumps = json.loads, json.dumps

    def load(source, name, tools):
        nonlocal episodes
        module = types.ModuleType("environment")
        sys.modules["environment"] = module  # dataclasses look up their module by name
        try:
            exec(compile(source, FILE, "exec", dont_inherit=True), module.__dict__)
            found = module.__dict__.get(name)
            if not isinstance(found, type):
                raise Fault(f"The file ran, but then {name} isn’t a class.")
            episodes = Episodes(found, tools, reward_functions(module), SharedState(module, source))
            return {"statics": episodes.statics()}
        except BaseException as error:
            reply = problem("The file", error)
            if isinstance(error, ModuleNotFoundError):
                reply["problem"] = f"The file imports {error.name}. Only Python’s standard library is here."
            return reply

    def served(request):
        where = episodes.rewarding() if request["op"] == "reward" else WHERE[request["op"]]
        try:
            begin()  # from here on the time may be up
            return episodes.serve(request["op"], request["id"], request)
        except BaseException as error:
            return problem(where, error)

    def answer(text):
        message = loads(text)
        if isinstance(message, dict) and "count" in message:
            return dumps({"work": work.count(message["count"])})
        if isinstance(message, dict):
            begin()
            return dumps(load(**message))
        return dumps([served(request) for request in message])

    return answer


playground
