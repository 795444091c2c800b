import type { NamedExport } from './exportInput.ts';
import { docstring, pythonString } from './pythonText.ts';
import { callArguments, methodDocstring, signature } from './toolMethod.ts';

/** The version of TRL that the class is tested with. */
export const TRL_VERSION = '1.16.0';

/** `trl_environment.py`: the class for `environment_factory`, its dataset, and a small training program. */
export function trlExport({ declaration, names }: NamedExport): string {
  const methods = names.tools.map(
    (tool) => `
    def ${signature(tool)}:
${methodDocstring(tool)}
        return self._episode.call(${callArguments(tool)}).text
`,
  );
  const answer = `
    def answer(self, text: str) -> str:
        """Gives the final answer, which ends the task.

        Args:
            text: the answer
        """
        self._episode.answer(text)
        return OVER
`;
  const about = [
    `${declaration.name} for TRL ${TRL_VERSION}: \`environment_factory=${names.className}\`. The class is written from environment.ts.`,
    ...['', 'python trl_environment.py --model Qwen/Qwen3-0.6B'],
  ];
  return `${docstring(about, 0)}

import argparse
import json
from typing import Literal  # noqa: F401

from playground_episode import MAX_TURNS, OVER, SYSTEM, TASKS, Episode  # noqa: F401


class ${names.className}:
${docstring([declaration.description || declaration.name], 4)}

    def __init__(self) -> None:
        self._episode: Episode | None = None

    def reset(self, split: str = "train", index: int = 0, seed: int = 0, **row) -> str:
        """Begins a task. TRL calls it with a row of the dataset, and appends what it returns to the prompt."""
        self._episode = Episode(split, index, seed)
        return self._episode.prompt

    def get_reward(self) -> float:
        """Returns the reward of the episode: the weighted sum of its parts. TRL calls it once, at the end."""
        return self._episode.reward()
${methods.join('')}${declaration.hearsAnswer ? answer : ''}

def rows(split: str, count: int | None = None) -> list[dict]:
    """Returns a row for each task: its split and index, and a prompt to which \`reset\` adds the task's text."""
    prompt = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": ""}]
    known = TASKS[split] if count is None else min(count, TASKS[split])
    return [{"prompt": prompt, "split": split, "index": index, "seed": 0} for index in range(known)]


def main() -> None:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    parser = argparse.ArgumentParser(description=${pythonString(`Trains a model on ${declaration.name} with TRL.`)})
    parser.add_argument("--model", required=True, help="a model whose chat template has tools")
    parser.add_argument("--out", default="trained")
    parser.add_argument("--set", default="{}", help="fields of GRPOConfig, as JSON")
    arguments = parser.parse_args()
    settings = {"max_tool_calling_iterations": MAX_TURNS, "max_completion_length": 1024, "output_dir": arguments.out}
    trainer = GRPOTrainer(
        model=arguments.model,
        args=GRPOConfig(**{**settings, **json.loads(arguments.set)}),
        train_dataset=Dataset.from_list(rows("train")),
        environment_factory=${names.className},
    )
    trainer.train()
    trainer.save_model(arguments.out)


if __name__ == "__main__":
    main()
`;
}
