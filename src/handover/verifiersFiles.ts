import { type NamedExport, callArguments, docstring, methodDocstring, pythonString, signature } from './pythonNames.ts';

/** The version of verifiers that the taskset is tested with. */
export const VERIFIERS_VERSION = '0.4.0';

/**
 * `verifiers_environment.py`: a taskset with the tasks, a toolset with the tools, and a weighted reward for each part.
 */
export function verifiersClass({ declaration, names, settings }: NamedExport): string {
  const { className } = names;
  const methods = names.tools.map(
    (tool) => `
    @vf.tool(name=${pythonString(tool.tool.name)})
    def ${signature(tool)}:
${methodDocstring(tool)}
        return self._call(${callArguments(tool)})
`,
  );
  const rewards = Object.entries(settings.weights).map(
    ([part, weight], at) => `
    @vf.reward(weight=${String(weight)})
    async def part_${at + 1}(self, trace: vf.Trace) -> dict[str, float]:
        return {${pythonString(part)}: rewards_of(self.data, trace).get(${pythonString(part)}, 0.0)}
`,
  );
  return `${docstring([`${declaration.name} for verifiers ${VERIFIERS_VERSION}: a taskset with a toolset. The classes are written from environment.ts.`], 0)}

from collections.abc import Iterator
from typing import Literal

import verifiers.v1 as vf

from playground_episode import SYSTEM, TASKS, WEIGHTS, Episode

__all__ = ["${className}Taskset"]


class Played(vf.State):
    """The calls of a rollout so far. The toolset runs in a process of its own; the rewards play these calls again."""

    calls: list[tuple[str, dict]] = []


class ${className}Data(vf.TaskData):
    split: str
    index: int


class ${className}Tools(vf.Toolset[vf.ToolsetConfig, Played]):
    TOOL_PREFIX = None

    async def setup_task(self, task: ${className}Data) -> None:
        self._episode = Episode(task.split, task.index)

    def _call(self, tool: str, arguments: dict) -> str:
        self.state.calls.append((tool, arguments))
        return self._episode.call(tool, arguments).text
${methods.join('')}

def rewards_of(task: ${className}Data, trace: vf.Trace) -> dict[str, float]:
    """Returns the parts of the reward. Plays the task again with the rollout's calls, then with the agent's last text."""
    episode = Episode(task.split, task.index)
    for tool, arguments in trace.state.calls:
        episode.call(tool, arguments)
    if not episode.over:
        episode.answer(trace.last_reply)
    return episode.rewards()


class ${className}Task(vf.Task[${className}Data, Played]):
    @classmethod
    def toolsets(cls, config: vf.TaskConfig) -> list[vf.Toolset]:
        return [${className}Tools(vf.ToolsetConfig())]
${rewards.join('')}
    @vf.reward
    async def other_parts(self, trace: vf.Trace) -> dict[str, float]:
        """Returns the parts of the reward that have no weight in the environment. Their weight is 1."""
        return {name: part for name, part in rewards_of(self.data, trace).items() if name not in WEIGHTS}


class ${className}Config(vf.TasksetConfig):
    split: Literal["train", "test"] = "train"


class ${className}Taskset(vf.Taskset[${className}Task, ${className}Config]):
    def load(self) -> Iterator[${className}Task]:
        for index in range(TASKS[self.config.split]):
            prompt = Episode(self.config.split, index).prompt
            data = ${className}Data(prompt=prompt, system_prompt=SYSTEM, split=self.config.split, index=index)
            yield ${className}Task(data, self.config.task)
`;
}
