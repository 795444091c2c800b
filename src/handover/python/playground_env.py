"""Plays episodes of this folder's environment in words, exactly like the page.

The rules are the page's own: machine/environment.js is made of its code. The same task, environment_seed
and words give the same observations, rewards and end. Needs only wasmtime.

    episode = Episode("train", seed, environment_seed=7)   # of a row of train.jsonl; "val" for val.jsonl
    while not episode.over:
        turn = episode.step(words_of_the_agent)   # up to </call>, </answer> or episode.budget words
        turn.observation                          # words, with their tags; empty once the episode is over
    episode.reward, episode.parts, episode.success, episode.stop
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from playground_machine import RULES as RULES
from playground_machine import MachineEpisode

CLOSERS = ("</call>", "</answer>")
PARTS = ("outcome", "process", "call", "format", "think", "turnCost")


@dataclass(frozen=True)
class Turn:
    """The result of a turn."""

    observation: list[str]  # with its tags; empty once the episode is over
    parts: dict[str, float]
    valid: bool
    tool_call: bool
    waited: int  # turns that passed until the tool answered

    @property
    def reward(self) -> float:
        return sum(self.parts.values())


NOTHING = Turn([], dict.fromkeys(PARTS, 0.0), False, False, 0)


class Episode(MachineEpisode):
    """One episode of a task.

    `split` and `seed` name the task, as in a row. `environment_seed` seeds the environment's random draws: tools that fail or answer late,
    distractors, slippery ice.
    """

    def __init__(self, split: str, seed: int, environment_seed: int = 0):
        super().__init__(f"{split} task {seed}")
        self.environment_seed = environment_seed
        self.turns: list[Turn] = []
        self.parts = dict.fromkeys(PARTS, 0.0)
        index = {"seed": seed, "environmentSeed": environment_seed}
        self._became(self._ask(1, op="open", split=split, index=index, chance=[0, 0, 0]))

    @property
    def reward(self) -> float:
        return sum(self.parts.values())

    def step(self, words: list[str] | str) -> Turn:
        """Takes one turn. A mistake of the agent never raises an exception; it is part of the result.

        If the words end before the turn does, the turn was cut off. It counts as malformed, no tool runs, and the episode ends. Without any
        words, the episode ends between two turns.
        """
        if self.over:
            raise RuntimeError("Episode.step: the episode is over. Begin a new one.")
        words = words.split() if isinstance(words, str) else list(words)
        took = self._became(self._ask(len(self.turns) + 1, op="call", tool="step", values=[words])).get("turn")
        if took is None:
            return NOTHING
        parts = {part: took["parts"][part] for part in PARTS}
        for part, amount in parts.items():
            self.parts[part] += amount
        turn = Turn(took["observation"], parts, took["valid"], took["toolCall"], took["waited"])
        self.turns.append(turn)
        return turn

    def _became(self, reply: dict[str, Any]) -> dict[str, Any]:
        state = json.loads(reply["text"])
        self.stop: str | None = state["stop"]  # answered, found, turns or tokens; None while the episode continues
        self.over, self.success = self.stop is not None, state["success"]
        self.budget: int = state["budget"]  # the most words that the agent may write now
        return state
