"""Plays episodes of this folder's environment exactly like the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground_machine import RULES, EnvironmentFault, MachineEpisode  # noqa: F401

TOOLS: dict[str, list[dict[str, Any]]] = {tool["name"]: tool["parameters"] for tool in RULES["tools"]}
TASKS: dict[str, int] = RULES["tasks"]
MAX_TURNS: int = RULES["maxTurns"]
WEIGHTS: dict[str, float] = RULES["weights"]
MAX_REWARD: float = RULES["maxReward"]
SYSTEM: str = RULES["system"]
TYPES = {"string": str, "number": (int, float), "boolean": bool}
OVER = "The episode is over."


@dataclass(frozen=True)
class Reply:
    """The result of one turn."""

    text: str
    refused: bool = False  # the tool rejected the call, or the call was not valid
    paid: float = 0.0  # the result of turnReward()


def argument_problem(tool: str, arguments: Mapping[str, Any]) -> str | None:
    """Says why a call can't be made; None if it can. Checked before the tool is called."""
    if tool not in TOOLS:
        return f"there is no tool {tool}"
    parameters = TOOLS[tool]
    for stray in arguments:
        if all(parameter["name"] != stray for parameter in parameters):
            return f"{tool} has no argument {stray}"
    for parameter in parameters:
        name, kind = parameter["name"], parameter["type"]
        if name not in arguments:
            return f"{tool} needs the argument {name}"
        value = arguments[name]
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1.7976931348623157e308
        if "enum" in parameter and value not in parameter["enum"]:
            return f"{name} of {tool} has to be one of {', '.join(parameter['enum'])}"
        if not (number if kind == "number" else isinstance(value, TYPES[kind])):
            return f"{name} of {tool} has to be a {kind}"
    return None


def whole(text: str) -> str:
    """Converts a JavaScript text to Python. As on the page, a lone surrogate becomes U+FFFD, because tokenizers reject surrogates."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Episode(MachineEpisode):
    """One episode of one task. The same task and the same calls give the same episode everywhere.

    `split` is "train" or "test", `index` counts from 0. `seed` 0 gives the tasks that the page trains on. Raises EnvironmentFault if the
    environment itself fails.
    """

    def __init__(self, split: str, index: int, seed: int = 0) -> None:
        if split not in TASKS or not 0 <= index < TASKS[split]:
            counts = ", ".join(f"{count} of {name}" for name, count in TASKS.items())
            raise ValueError(f"There is no {split} task {index}. There are {counts}.")
        self.split, self.index, self.seed = split, index, seed
        super().__init__(f"{split} task {index}")
        self.turns = 0
        self._rewards: dict[str, float] | None = None
        opened = self._request(op="open", split=split, index=index, chance=self._chance(0))
        self.prompt: str = whole(opened["text"])

    def _chance(self, later: int) -> list[int]:
        return [self.seed + later, self.index, 0 if self.split == "train" else 1]

    def _request(self, **request: Any) -> dict[str, Any]:
        return self._ask(self.turns + 1, **request)

    def _took(self, reply: dict[str, Any]) -> Reply:
        self.turns += 1
        self._rewards = None
        self.over = bool(reply.get("over")) or self.turns >= MAX_TURNS
        text = reply["text"] if "text" in reply else reply.get("refused", "")
        return Reply(whole(text), "refused" in reply, reply.get("paid", 0.0))

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        """Calls a tool, which takes a turn. A wrong call takes a turn too; its reply says what is wrong."""
        if self.over:
            return Reply(OVER, refused=True)
        wrong = argument_problem(tool, arguments)
        if wrong is not None:
            return self._took({"refused": wrong})
        values = [arguments[parameter["name"]] for parameter in TOOLS[tool]]
        values = [0.0 if value == 0 and isinstance(value, float) else value for value in values]  # the page's JSON has no -0 either
        return self._took(self._request(op="call", tool=tool, values=values))

    def answer(self, text: str) -> None:
        """Gives the agent's final text instead of a call, which ends the episode."""
        if not self.over:
            self._took(self._request(op="answer", text=text))

    def expert(self) -> dict[str, Any] | str | None:
        """The next turn of the environment's expert: {"tool", "arguments"}, or a text. None if there is no expert."""
        reply = self._request(op="expert", chance=self._chance(self.turns + 1))
        if reply.get("none"):
            return None
        return reply["answer"] if "answer" in reply else {"tool": reply["tool"], "arguments": reply.get("values", {})}

    def rewards(self) -> dict[str, float]:
        """The named parts of the reward, unweighted. Asks the environment at most once after each turn."""
        if self._rewards is None:
            parts = self._request(op="reward")["parts"]
            if not abs(weighted(parts)) <= MAX_REWARD:
                raise self._faulty(self.turns + 1, "", f"The reward is {weighted(parts)}. It has to be a number up to a million.")
            self._rewards = parts
        return self._rewards

    def reward(self) -> float:
        """The reward: the weighted sum of its parts."""
        return weighted(self.rewards())


def weighted(parts: Mapping[str, float]) -> float:
    """The sum of the parts of a reward, each times its weight."""
    total = 0.0
    for name, part in parts.items():
        total += WEIGHTS.get(name, 1) * part
    return total
