"""This folder's environment for verl: its tools, its reward function, and the rows of its tasks.

python verl_environment.py writes train.jsonl, val.jsonl and tools.yaml. README.md has the settings that name these files.
"""

from __future__ import annotations

import json
import weakref
from pathlib import Path
from typing import Any

from playground_episode import OVER, RULES, SYSTEM, TASKS, WEIGHTS, Episode

HERE = Path(__file__).resolve().parent
MOVES = "playground_moves"
ANSWER = {
    "type": "function",
    "function": {
        "name": "answer",
        "description": "Gives the final answer, which ends the task.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
}
SCHEMAS = [*(tool["schema"] for tool in RULES["tools"]), *([ANSWER] if RULES["hearsAnswer"] else [])]

try:
    from verl.tools.base_tool import BaseTool
    from verl.tools.schemas import ToolResponse
except ModuleNotFoundError:  # the rows can be written even if verl isn't installed
    BaseTool = object


class EnvironmentTool(BaseTool):
    """A tool of the environment. All tools of a rollout play the same episode. `agent_data` identifies the rollout."""

    episodes: weakref.WeakKeyDictionary[Any, Episode] = weakref.WeakKeyDictionary()

    async def execute(self, instance_id: str, parameters: dict[str, Any], agent_data: Any = None, **kwargs: Any):
        if agent_data not in self.episodes:
            self.episodes[agent_data] = Episode(**agent_data.tools_kwargs[self.name]["create_kwargs"])
        # The moves are stored with the rollout, so that compute_score can play them again.
        agent_data.extra_fields.setdefault(MOVES, []).append([self.name, parameters])
        text, turn_reward = play(self.episodes[agent_data], self.name, parameters)
        return ToolResponse(text=text), turn_reward, {}


def play(episode: Episode, tool: str, arguments: dict[str, Any]) -> tuple[str, float]:
    """Makes a move. Returns the environment's text and the result of turnReward()."""
    if tool == ANSWER["function"]["name"] and RULES["hearsAnswer"]:
        episode.answer(str(arguments.get("text", "")))
        return OVER, 0.0
    reply = episode.call(tool, arguments)
    return reply.text, reply.paid


def compute_score(data_source: str, solution_str: str, ground_truth: str, extra_info: dict | None = None, **kwargs: Any):
    """The reward of a rollout, with its parts. Plays the task again with the rollout's moves."""
    extra = extra_info or {}
    episode = Episode(**extra["task"])
    for tool, arguments in extra.get(MOVES) or []:
        play(episode, tool, arguments)
    parts = dict.fromkeys(WEIGHTS, 0.0) | episode.rewards()
    return {"score": float(episode.reward()), **{name: float(part) for name, part in parts.items()}}


def row(split: str, index: int) -> dict[str, Any]:
    """A row with a task, in verl's columns."""
    task = {"split": split, "index": index, "seed": 0}
    episode = Episode(**task)
    kwargs = {schema["function"]["name"]: {"create_kwargs": task} for schema in SCHEMAS}
    return {
        "data_source": f"rollout-playground/{RULES['name']}",
        "prompt": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": episode.prompt}],
        "agent_name": "tool_agent",
        "reward_model": {"style": "rule", "ground_truth": ""},
        "extra_info": {"split": split, "index": index, "task": task, "need_tools_kwargs": True, "tools_kwargs": kwargs},
    }


def main() -> None:
    for name, split in (("train", "train"), ("val", "test")):
        rows = [row(split, index) for index in range(min(TASKS[split], 8192))]
        (HERE / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
        print(f"{name}.jsonl: {len(rows)} tasks")
    tools = [
        {"class_name": "verl_environment.EnvironmentTool", "config": {"type": "native"}, "tool_schema": schema}
        for schema in SCHEMAS
    ]
    (HERE / "tools.yaml").write_text(json.dumps({"tools": tools}, indent=2) + "\n", encoding="utf-8")  # JSON is YAML


if __name__ == "__main__":
    main()
