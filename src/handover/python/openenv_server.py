"""This folder's environment as an OpenEnv server: python openenv_server.py --port 8000

A client opens a WebSocket at /ws for each episode. It sends {"type": "reset", "data": {"split": "train", "index": 3}}, then steps such as
{"type": "step", "data": {"type": "call_tool", "tool_name": …, "arguments": {…}}}. The tool `answer` ends an episode with a text instead of
a call. The last observation has the reward; its parts are in `rewards`.
"""

from __future__ import annotations

import argparse
from typing import Any
from uuid import uuid4

from openenv.core.env_server import CallToolAction, Environment, ListToolsAction, ListToolsObservation, Observation, State, Tool, create_app
from openenv.core.env_server.types import EnvironmentMetadata

from playground_episode import RULES, SYSTEM, TASKS, Episode

ANSWER = {
    "name": "answer",
    "description": "Says something instead of a call, which ends the episode.",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


class TextObservation(Observation):
    """A text of the environment: the task's prompt, or a tool's answer."""

    text: str
    refused: bool = False  # the call was rejected; `text` says why
    turn_reward: float = 0.0
    rewards: dict[str, float] | None = None  # unweighted parts of the reward, at the end of the episode


class ExportedEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._episode: Episode | None = None
        self._id = ""

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str = "train",
        index: int | None = None,
        **kwargs: Any,
    ) -> TextObservation:
        """Begins the task with that index. Without one, `seed` picks the task: the same seed gives the same task."""
        task_index = (seed or 0) % self.num_tasks(split) if index is None else index
        self._episode = Episode(split, task_index)
        self._id = episode_id or str(uuid4())
        return TextObservation(text=self._episode.prompt)

    def step(self, action: CallToolAction | ListToolsAction, timeout_s: float | None = None, **kwargs: Any) -> Observation:
        if isinstance(action, ListToolsAction):
            return ListToolsObservation(tools=tools())
        episode = self._episode
        if episode is None:
            raise RuntimeError("Send a reset first.")
        if action.tool_name == ANSWER["name"]:
            episode.answer(str(action.arguments.get("text", "")))
            return self._last(TextObservation(text=""))
        reply = episode.call(action.tool_name, action.arguments)
        observation = TextObservation(text=reply.text, refused=reply.refused, turn_reward=reply.paid)
        return self._last(observation) if episode.over else observation

    def _last(self, observation: TextObservation) -> TextObservation:
        rewards, reward = self._episode.rewards(), self._episode.reward()
        return observation.model_copy(update={"done": True, "reward": reward, "rewards": rewards})

    @property
    def state(self) -> State:
        return State(episode_id=self._id, step_count=self._episode.turns if self._episode else 0)

    def get_metadata(self) -> EnvironmentMetadata:
        return EnvironmentMetadata(name=RULES["name"], description=SYSTEM)

    def list_splits(self) -> list[str]:
        return list(TASKS)

    def num_tasks(self, split: str) -> int:
        if split not in TASKS:
            raise ValueError(f"There is no split {split}. There are {' and '.join(TASKS)}.")
        return TASKS[split]

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        if not 0 <= index < self.num_tasks(split):
            raise IndexError(f"There are {TASKS[split]} {split} tasks, from 0.")
        return {"id": f"{split}-{index}", "index": index}

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        return [self.get_task(split, index) for index in range(self.num_tasks(split))[start:stop]]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        return self.get_task_range(split, 0, 1000)


def tools() -> list[Tool]:
    """The environment's tools, and `answer`."""
    schemas = [*(tool["schema"]["function"] for tool in RULES["tools"]), ANSWER]
    return [Tool(name=each["name"], description=each["description"], input_schema=each["parameters"]) for each in schemas]


app = create_app(ExportedEnvironment, CallToolAction, TextObservation, env_name=RULES["name"], max_concurrent_envs=64)


def main() -> None:
    import uvicorn

    parser = argparse.ArgumentParser(description=f"Serves {RULES['name']} with OpenEnv.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    uvicorn.run(app, host=arguments.host, port=arguments.port)


if __name__ == "__main__":
    main()
