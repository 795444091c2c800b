import { utf8Bytes, type Files } from '../checkpoints/checkpointFolder.ts';
import { jsonText } from '../formats/jsonFile.ts';
import trainingProgram from './python/train_trl.py?raw';
import type { Overrides } from './counterparts.ts';
import { overridesOf } from './mapping.ts';
import type { RunFolder } from './taskRows.ts';
import { type NamedExport, callArguments, docstring, methodDocstring, pythonString, signature } from './pythonNames.ts';

/** The version of TRL that both kinds of folder are tested with. */
export const TRL_VERSION = '1.16.0';

/** A run's files for TRL only: the training program and its settings. */
export function trlRunFiles(folder: RunFolder): Files {
  const settings: Overrides = { ...overridesOf('trl', folder.config), ...folderSettings(folder) };
  return new Map([
    ['train_trl.py', utf8Bytes(trainingProgram)],
    ['trl.json', utf8Bytes(jsonText(settings))],
  ]);
}

/** The fields of GRPOConfig that depend on the folder, not on knobs. */
function folderSettings({ config, rules, longestPrompt }: RunFolder): Overrides {
  const { prompts, groupSize, minibatches, epochs } = config;
  return {
    max_completion_length: rules.maxTokens - longestPrompt,
    max_tool_calling_iterations: config.maxTurns, // a rollout ends earlier if its episode is over
    gradient_accumulation_steps: 1, // a minibatch is an optimizer step
    per_device_eval_batch_size: prompts * groupSize,
    num_generations_eval: 1,
    reward_weights: [0], // success is only shown; the reward comes from the environment
    shuffle_dataset: false, // rows are in the order in which the page draws them
    bf16: false,
    report_to: 'none',
    logging_steps: minibatches * epochs,
    save_strategy: 'no',
    log_completions: false,
  };
}

/**
 * `trl_environment.py` of a person's class: the class for `environment_factory`, its dataset, and a small training
 * program.
 */
export function trlClass({ declaration, names }: NamedExport): string {
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
