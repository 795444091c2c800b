"""The rules of Rollout Playground's environments in Python, with the standard library only.

`environment.json`, next to this file, has the environment and its settings. The `task` of a row has the data of one task. The page
wrote both. The rules below were written by hand. A test of Rollout Playground compares them with the page's rules, including random
draws: the same task, environment_seed and words give the same observations, rewards and end.

    rules = load_rules("environment.json")
    episode = Episode(rules, task, environment_seed=7)
    while not episode.over:
        turn = episode.step(words_of_the_agent)   # up to </call>, </answer> or rules["maxTurnTokens"] words
        turn.observation                           # words, with their tags; empty once the episode is over
    episode.reward, episode.parts, episode.success, episode.stop
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

TAGS = {"<pad>", "<bos>", "<think>", "</think>", "<call>", "</call>", "<obs>", "</obs>", "<answer>", "</answer>"}
CLOSERS = ("</call>", "</answer>")
ERROR, FAILURE, NOTHING, OVERFLOW, UNNAMED = "error", "none", "nothing", "overflow", "…"
PARTS = ("outcome", "process", "call", "format", "think", "turnCost")


def load_rules(path: str | Path) -> dict:
    """The environment and its settings, as the page wrote them."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


# ---------------------------------------------------------------------------------------------------------------------
# Random draws: each is a hash of its purpose and counters, pcg4d (Jarzynski & Olano 2020, JCGT 9(3)). Python and the page draw the same.

MASK = 0xFFFFFFFF
PURPOSE_ENVIRONMENT = 8


def pcg4d(x: int, y: int, z: int, w: int) -> int:
    """The first of the four 32-bit words to which pcg4d hashes four words."""
    a, b, c, d = ((v * 1664525 + 1013904223) & MASK for v in (x, y, z, w))
    a = (a + b * d) & MASK
    b = (b + c * a) & MASK
    c = (c + a * b) & MASK
    d = (d + b * c) & MASK
    a, b, c, d = a ^ (a >> 16), b ^ (b >> 16), c ^ (c >> 16), d ^ (d >> 16)
    return (a + b * d) & MASK


class Random:
    """The stream of draws for (environment_seed, turn, kind)."""

    def __init__(self, seed: int, a: int = 0, b: int = 0):
        self.key = (seed + PURPOSE_ENVIRONMENT * 0x9E3779B9) & MASK
        self.a, self.b, self.counter = a, b, 0

    def next(self) -> float:
        """A uniform number in [0, 1), with 24 random bits."""
        drawn = (pcg4d(self.key, self.a, self.b, self.counter) >> 8) / 16777216
        self.counter += 1
        return drawn

    def int(self, n: int) -> int:
        """A whole number in [0, n)."""
        return min(n - 1, math.floor(self.next() * n))

    def pick(self, items: list):
        return items[self.int(len(items))]

    def shuffle(self, items: list) -> list:
        """Shuffles in place (Fisher-Yates)."""
        for i in range(len(items) - 1, 0, -1):
            j = self.int(i + 1)
            items[i], items[j] = items[j], items[i]
        return items


# ---------------------------------------------------------------------------------------------------------------------
# Turns


@dataclass(frozen=True)
class Parsed:
    kind: str  # call, answer
    words: list[str]
    thought: list[str]


def parse_turn(words: list[str], think: bool) -> Parsed | None:
    """Parses `<call> words </call>` or `<answer> words </answer>`. With `think`, `<think> words </think>` may come first. Otherwise None."""
    end = -1
    if think and words and words[0] == "<think>":
        if "</think>" not in words:
            return None
        end = words.index("</think>")
        if any(word in TAGS for word in words[1:end]):
            return None
    start = end + 1
    thought = words[1 : max(1, end)]
    inner = words[start + 1 : -1]
    if len(words) < start + 2 or any(word in TAGS for word in inner):
        return None
    for kind in ("call", "answer"):
        if words[start] == f"<{kind}>" and words[-1] == f"</{kind}>":
            return Parsed(kind, inner, thought)
    return None


@dataclass(frozen=True)
class Outcome:
    """The result of a well-formed call or answer, before rewards."""

    observation: list[str]
    progress: float = 0  # share of the process reward
    stop: str | None = None
    success: bool = False
    payoff: float | None = None  # share of the outcome reward; None: 1 for success, otherwise 0


MALFORMED = Outcome([ERROR])


@dataclass(frozen=True)
class Turn:
    """The result of a turn."""

    observation: list[str]  # with its tags; empty once the episode is over
    parts: dict[str, float]
    valid: bool
    tool_call: bool
    waited: int  # turns that passed until the tool answered
    success: bool
    stop: str | None  # answered, found or turns; None while the episode continues

    @property
    def reward(self) -> float:
        return sum(self.parts.values())


class Episode:
    """One episode of a task. `environment_seed` seeds the environment's random draws: tools that fail or answer late, and distractors."""

    def __init__(self, rules: dict, task: dict | str, environment_seed: int = 0):
        self.rules, self.environment_seed = rules, environment_seed
        task = json.loads(task) if isinstance(task, str) else task
        if task["kind"] not in TASKS:
            raise ValueError(f"Episode: there is no task kind {task['kind']}. Use one of {', '.join(TASKS)}.")
        self.task = TASKS[task["kind"]](rules, task)
        self.turn = 0
        self.waited = 0  # turns that passed while waiting for tools
        self.over = False
        self.success = False
        self.stop: str | None = None
        self.turns: list[Turn] = []
        self.parts = dict.fromkeys(PARTS, 0.0)
        self._called = False  # only the first call gets the call reward
        self._thought_paid = False

    @property
    def reward(self) -> float:
        return sum(self.parts.values())

    def _dice(self, kind: int = 0) -> Random:
        return Random(self.environment_seed, self.turn, kind)

    def step(self, words: list[str] | str) -> Turn:
        """Takes one turn. A mistake of the agent never raises an exception; it is part of the result."""
        if self.over:
            raise RuntimeError("Episode.step: the episode is over. Begin a new one.")
        words = words.split() if isinstance(words, str) else words
        settings, max_turns = self.rules["settings"], self.rules["maxTurns"]
        self.turn += 1
        parsed = parse_turn(words, self.rules["think"])
        needs = self.task.needs(self.turn + self.waited) if self.rules["think"] else []
        outcome = self._act(parsed) if parsed else None
        result = outcome or MALFORMED
        payoff = result.payoff if result.payoff is not None else (1 if result.success else 0)
        thought = thought_share(parsed.thought, needs) if outcome and not self._thought_paid else 0
        self._thought_paid = (self._thought_paid or thought > 0) and result.progress == 0
        tool_call = outcome is not None and parsed.kind == "call"
        first_call = tool_call and not self._called
        self._called = self._called or tool_call
        turns_left = max(0, max_turns - 1 - self.turn - self.waited)
        delay = self._delay() if tool_call and result.stop is None else 0
        waited = min(delay, turns_left)
        self.waited += waited
        self.stop = result.stop or ("turns" if self.turn + self.waited >= max_turns else None)
        self.over, self.success = self.stop is not None, result.success
        parts = {
            "outcome": settings["outcomeReward"] * payoff,
            "process": settings["processReward"] * result.progress,
            "call": settings["callReward"] if first_call else 0,
            "format": 0 if outcome else 0 - settings["invalidPenalty"],
            "think": settings["thinkReward"] * thought,
            "turnCost": 0 - settings["turnCost"] if tool_call else 0,
        }
        for part, amount in parts.items():
            self.parts[part] += amount
        observation = [] if self.over else ["<obs>", *result.observation, "</obs>"]
        turn = Turn(observation, parts, outcome is not None, tool_call, waited, result.success, self.stop)
        self.turns.append(turn)
        return turn

    def cut(self, inside: bool = False) -> None:
        """Ends the episode because it has reached its maximum length. With `inside`, a turn was cut off, which counts as malformed."""
        self.over, self.stop = True, self.stop or "tokens"
        if not inside:
            return
        self.turn += 1
        parts = {**dict.fromkeys(PARTS, 0.0), "format": 0 - self.rules["settings"]["invalidPenalty"]}
        self.parts["format"] += parts["format"]
        self.turns.append(Turn([], parts, False, False, 0, False, self.stop))

    def _act(self, parsed: Parsed) -> Outcome | None:
        if parsed.kind == "answer":
            return self.task.answer(parsed.words)
        draw = self._dice()
        failed = draw_failure(self.rules["settings"]["failureRate"], draw)
        return self.task.call(parsed.words, failed, draw)

    def _delay(self) -> int:
        """Draws the number of turns until a tool answers: geometric with mean `latency`."""
        latency = self.rules["settings"]["latency"]
        if latency <= 0:
            return 0
        return math.floor(math.log(1 - self._dice(SLOW).next()) / math.log(latency / (1 + latency)))


SLOW = 2  # makes the draws for delays independent of those for failures


def draw_failure(rate: float, draw: Random):
    """Returns a function that draws whether the tool fails. A task calls it only for valid calls, so other calls draw nothing."""
    return lambda: draw.next() < rate


def thought_share(thought: list[str], needs: list[str]) -> float:
    """The share of the words in a think span that the right next action needs. A repeated word counts only once in the numerator."""
    return len({word for word in thought if word in needs}) / len(thought) if thought else 0


# ---------------------------------------------------------------------------------------------------------------------
# Number hunt: a hidden number, and a tool that says higher or lower. Process reward: the share of the number's bits that a call reveals.

FILLERS = ["well", "so", "now", "hmm", "then", "okay", "right", "look"]


class NumberHunt:
    def __init__(self, rules: dict, task: dict):
        self.range, self.distractors, self.target = rules["range"], rules["distractors"], task["target"]
        self.low, self.high = 0, self.range - 1

    def needs(self, turn: int) -> list[str]:
        return [str(n) for n in range(self.low, self.high + 1)]

    def call(self, args: list[str], failed, draw: Random) -> Outcome | None:
        if len(args) != 1 or not re.fullmatch(r"[0-9]+", args[0]) or int(args[0]) >= self.range:
            return None
        value = int(args[0])
        if failed():
            return Outcome([FAILURE])
        verdict = "found" if value == self.target else "higher" if self.target > value else "lower"
        words = [draw.pick(FILLERS) for _ in range(self.distractors)]
        words.insert(draw.int(len(words) + 1), verdict)
        before = self.high - self.low + 1
        if verdict != "lower":
            self.low = max(self.low, value if verdict == "found" else value + 1)
        if verdict != "higher":
            self.high = min(self.high, value if verdict == "found" else value - 1)
        found = verdict == "found"
        progress = math.log(before / (self.high - self.low + 1)) / math.log(self.range)
        return Outcome(words, progress, "found" if found else None, found)

    def answer(self, args: list[str]) -> Outcome | None:
        return None  # this task has no answers, only calls


# ---------------------------------------------------------------------------------------------------------------------
# Calculator chain: operations from left to right, and a tool that computes one. Process reward: an equal share for each, in order.

MAX_VALUE = 99


def spell(n: int) -> list[str]:
    return [str(n // 10), str(n % 10)]


def read_digits(words: list[str]) -> int | None:
    return int("".join(words)) if len(words) == 2 and all(w in "0123456789" and len(w) == 1 for w in words) else None


def apply(a: int, operator: str, b: int) -> int:
    return a + b if operator == "+" else a - b if operator == "-" else a * b


class Calculator:
    def __init__(self, rules: dict, task: dict):
        self.steps, self.max_turns = task["steps"], rules["maxTurns"]
        self.values = [task["first"]]
        for step in self.steps:
            self.values.append(apply(self.values[-1], step["operator"], step["by"]))
        self.known = 0

    def _next(self) -> list[str] | None:
        if self.known >= len(self.steps):
            return None
        step = self.steps[self.known]
        return [*spell(self.values[self.known]), step["operator"], *spell(step["by"])]

    def needs(self, turn: int) -> list[str]:
        call = self._next() if turn < self.max_turns else None
        return call or (spell(self.values[self.known]) if self.known >= len(self.steps) else [])

    def call(self, args: list[str], failed, draw: Random) -> Outcome | None:
        a, b = read_digits(args[:2]), read_digits(args[3:])
        if a is None or b is None or args[2] not in ("+", "-", "×"):
            return None
        if failed():
            return Outcome([FAILURE])
        value = apply(a, args[2], b)
        useful = args == self._next()
        if useful:
            self.known += 1
        return Outcome(spell(value) if 0 <= value <= MAX_VALUE else [OVERFLOW], 1 / len(self.steps) if useful else 0)

    def answer(self, args: list[str]) -> Outcome | None:
        number = read_digits(args)
        return None if number is None else Outcome([], 0, "answered", number == self.values[-1])


# ---------------------------------------------------------------------------------------------------------------------
# Search in a graph: a tool that looks up one fact, mixed with distractors. Process reward: a share for the next hop that is needed.


def index_of(items: list[str], item: str) -> int:
    return items.index(item) if item in items else -1


class GraphSearch:
    def __init__(self, rules: dict, task: dict):
        self.words, self.distractors, self.max_turns = rules, rules["distractors"], rules["maxTurns"]
        self.entities, self.relations, self.edges = task["entities"], task["relations"], task["edges"]
        self.gold, self.known = task["gold"], task["known"]

    def needs(self, turn: int) -> list[str]:
        if self.known >= len(self.gold):
            return [self.entities[self.gold[-1]["to"]]]
        hop = self.gold[self.known]
        return [self.entities[hop["entity"]], self.relations[hop["relation"]]] if turn < self.max_turns else []

    def _fact(self, entity: int, relation: int) -> list[str] | None:
        to = self.edges[relation][entity] if entity >= 0 and relation >= 0 else None
        return None if to is None else [self.entities[entity], self.relations[relation], self.entities[to]]

    def call(self, args: list[str], failed, draw: Random) -> Outcome | None:
        if len(args) != 2 or args[0] not in self.words["entities"] or args[1] not in self.words["relations"]:
            return None
        if failed():
            return Outcome([FAILURE])
        entity, relation = index_of(self.entities, args[0]), index_of(self.relations, args[1])
        fact = self._fact(entity, relation)
        if fact is None:
            return Outcome([FAILURE])
        facts = [fact]
        if self.distractors > 0:
            facts = draw.shuffle([fact, *(self._random_fact(draw) for _ in range(self.distractors))])
        hop = self.gold[self.known] if self.known < len(self.gold) else None
        useful = hop is not None and (entity, relation) == (hop["entity"], hop["relation"])
        if useful:
            self.known += 1
        return Outcome([word for fact in facts for word in fact], 1 if useful else 0)

    def _random_fact(self, draw: Random) -> list[str]:
        while True:
            entity = draw.int(len(self.entities))
            fact = self._fact(entity, draw.int(len(self.relations)))
            if fact:
                return fact

    def answer(self, args: list[str]) -> Outcome | None:
        if len(args) != 1 or args[0] not in self.words["entities"]:
            return None
        right = index_of(self.entities, args[0]) == self.gold[-1]["to"]
        return Outcome([], 0, "answered", right)


# ---------------------------------------------------------------------------------------------------------------------
# Document search: BM25+ finds passages, rare words get other slots in each episode, and answers are scored as in HotpotQA.

PASSAGE_WORDS, SPAN = 12, 2
K, B, D, TITLE_BOOST = 1.2, 0.7, 0.5, 2
KINDS = ("name", "number", "word")


class Index:
    """BM25+ over titles and texts like MiniSearch 7. Whole words match, ignoring case; matches in titles have weight 2."""

    def __init__(self, passages: list[dict]):
        self.passages = passages
        self.fields = []
        for field in ("titleWords", "textWords"):
            counts: dict[str, dict[int, int]] = {}
            lengths, average = [], 0.0
            for at, passage in enumerate(passages):
                lengths.append(len(set(passage[field])))
                average = (average * at + lengths[-1]) / (at + 1)  # in MiniSearch's order, for the same bits
                for word in passage[field]:
                    in_passages = counts.setdefault(word.lower(), {})
                    in_passages[at] = in_passages.get(at, 0) + 1
            self.fields.append((counts, lengths, average))
        self.known: dict[tuple, list[int]] = {}

    def search(self, query: list[str], top: int) -> list[dict]:
        key = tuple(word.lower() for word in query)
        if key not in self.known:
            self.known[key] = self._ranked(key)
        return [self.passages[at] for at in self.known[key][:top]]

    def _ranked(self, query: tuple) -> list[int]:
        total: dict[int, float] = {}
        matched: dict[int, set[str]] = {}
        for word in query:
            scores: dict[int, float] = {}
            for (counts, lengths, average), boost in zip(self.fields, (TITLE_BOOST, 1)):
                in_passages = counts.get(word, {})
                rarity = math.log(1 + (len(self.passages) - len(in_passages) + 0.5) / (len(in_passages) + 0.5))
                for at, count in in_passages.items():
                    score = rarity * (D + count * (K + 1) / (count + K * (1 - B + B * lengths[at] / average)))
                    scores[at] = scores.get(at, 0) + boost * score
            for at, score in scores.items():
                total[at] = total.get(at, 0) + score
                matched.setdefault(at, set()).add(word)
        # a score is multiplied by the number of different query words that match; ties keep the order of the corpus
        return sorted(total, key=lambda at: (-total[at] * len(matched[at]), at))


_indexes: dict[int, tuple[list, Index]] = {}


def index_for(rules: dict) -> Index:
    """The index of the rules' passages. It is built once and kept."""
    passages = rules["passages"]
    entry = _indexes.get(id(passages))
    if entry is None or entry[0] is not passages:
        entry = _indexes[id(passages)] = (passages, Index(passages))
    return entry[1]


class Slots:
    """The slots of one episode and the words they stand for. Grows as words are written; `fixed` words get none."""

    def __init__(self, fixed: set[str], order: dict[str, list[str]]):
        self.fixed, self.free = fixed, {kind: list(order[kind]) for kind in KINDS}
        self.all = {slot for kind in KINDS for slot in order[kind]}
        self.names: dict[str, str] = {}
        self.slot_of: dict[str, str] = {}

    def write(self, words: list[str]) -> list[str]:
        return [self._name(word) for word in words]

    def read(self, written: list[str]) -> list[str]:
        return [self.names.get(word, word) for word in written if word in self.names or word not in self.all]

    def _name(self, word: str) -> str:
        key = word.lower()
        if key in self.fixed:
            return key
        if key in self.slot_of:
            return self.slot_of[key]
        category = unicodedata.category(word[0])
        kind = "name" if category == "Lu" else "number" if category.startswith("N") else "word"
        if not self.free[kind]:
            return UNNAMED
        slot = self.free[kind].pop()
        self.names[slot], self.slot_of[key] = word, slot
        return slot


class DocumentSearch:
    def __init__(self, rules: dict, task: dict):
        self.rules, self.task, self.max_turns = rules, task, rules["maxTurns"]
        self.spoken, self.index = set(rules["spoken"]), index_for(rules)
        self.slots = Slots(set(rules["own"]), task["slots"])
        self.question = self.slots.write(task["question"])
        self.missing = dict(zip(task["passages"], task["queries"]))

    def needs(self, turn: int) -> list[str]:
        if self.missing and turn >= self.max_turns:
            return []
        if self.missing:
            return self.slots.write(next(iter(self.missing.values())))
        right = self.slots.write(self.task["answerWords"])
        if right and all(word in self.spoken for word in right):
            return right
        return [word for word in self.question if word in self.spoken][:1]

    def call(self, args: list[str], failed, draw: Random) -> Outcome | None:
        if not 1 <= len(args) <= SPAN:
            return None
        query = self.slots.read(args)
        if failed():
            return Outcome(self.slots.write([FAILURE]))
        hits = self.index.search(query, self.rules["topPassages"])
        words: list[str] = []
        for at, hit in enumerate(hits):
            words += [*(["|"] if at else []), *hit["titleWords"], ":", *hit["textWords"][:PASSAGE_WORDS]]
        found = sum(self.missing.pop(hit["title"], None) is not None for hit in hits)
        return Outcome(self.slots.write(words) if words else [NOTHING], found)

    def answer(self, args: list[str]) -> Outcome | None:
        if not 1 <= len(args) <= SPAN:
            return None
        given, wanted = " ".join(self.slots.read(args)), self.task["answer"]
        exact = normalize_answer(given) == normalize_answer(wanted)
        payoff = answer_f1(given, wanted) if self.rules["payoff"] == "f1" else float(exact)
        return Outcome([], 0, "answered", exact, payoff)


def normalize_answer(text: str) -> str:
    """Normalizes like HotpotQA: lower case, no ASCII punctuation, no a, an or the, single blanks."""
    text = re.sub(r"[!-/:-@\[-`{-~]", "", text.lower())
    return " ".join(re.sub(r"(?<!\w)(?:a|an|the)(?!\w)", " ", text).split())


def answer_f1(given: str, wanted: str) -> float:
    """HotpotQA's token F1. The answers yes, no and noanswer get 0 unless they are exactly right."""
    answer_text, gold = normalize_answer(given), normalize_answer(wanted)
    exact_answers = ("yes", "no", "noanswer")
    if answer_text != gold and (answer_text in exact_answers or gold in exact_answers):
        return 0
    remaining = gold.split()
    words, common = len(answer_text.split()) + len(remaining), 0
    for word in answer_text.split():
        if word in remaining:
            remaining.remove(word)
            common += 1
    return 2 * common / words if common else 0


TASKS = {"number-hunt": NumberHunt, "calculator": Calculator, "graph": GraphSearch, "documents": DocumentSearch}
