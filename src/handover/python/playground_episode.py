"""Plays episodes of this folder's environment exactly like the page."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground_machine import RULES, EnvironmentFault, MachineEpisode  # noqa: F401

TASKS: dict[str, int] = RULES["tasks"]
MAX_TURNS: int = RULES["maxTurns"]
WEIGHTS: dict[str, float] = RULES["weights"]
SYSTEM: str = RULES["system"]
OVER = "The episode is over."


@dataclass(frozen=True)
class Reply:
    """The result of one turn."""

    text: str
    refused: bool = False  # the tool rejected the call, or the call was not valid
    paid: float = 0.0  # the result of turnReward()


def plain(value: Any) -> Any:
    """A value of a call as the page has it: zero has no sign. None for a value that no argument can have."""
    if isinstance(value, (str, bool)):
        return value
    return value + 0 if isinstance(value, (int, float)) and abs(value) <= sys.float_info.max else None


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
        self._earned: dict[str, Any] | None = None
        opened = self._request(op="open", split=split, index=index, chance=self._chance(0))
        self.prompt: str = whole(opened["text"])

    def _chance(self, later: int) -> list[int]:
        return [self.seed + later, self.index, 0 if self.split == "train" else 1]

    def _request(self, **request: Any) -> dict[str, Any]:
        return self._ask(self.turns + 1, **request)

    def _took(self, reply: dict[str, Any]) -> Reply:
        self.turns += 1
        self._earned = None
        self.over = bool(reply.get("over")) or self.turns >= MAX_TURNS
        text = reply["text"] if "text" in reply else reply.get("refused", "")
        return Reply(whole(text), "refused" in reply, reply.get("paid", 0.0))

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        """Calls a tool, which takes a turn. A wrong call takes a turn too; its reply says what is wrong."""
        if self.over:
            return Reply(OVER, refused=True)
        given = {name: plain(value) for name, value in arguments.items()}
        return self._took(self._request(op="call", tool=tool, given=given))

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
        """The named parts of the reward, unweighted."""
        return self._reward()["parts"]

    def reward(self) -> float:
        """The reward: the weighted sum of its parts."""
        return float(self._reward()["reward"])

    def _reward(self) -> dict[str, Any]:
        """Asks the environment at most once after each turn."""
        if self._earned is None:
            self._earned = self._request(op="reward")
        return self._earned
