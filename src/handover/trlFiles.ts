import { utf8Bytes, type Files } from '../checkpoints/checkpointFolder.ts';
import { jsonText } from '../formats/jsonFile.ts';
import trainingProgram from './python/train_trl.py?raw';
import type { Overrides } from './counterparts.ts';
import type { HandoverFolder } from './handoverFolder.ts';
import { overridesOf } from './mapping.ts';

/** The version of TRL that the folder is tested with. */
export const TRL_VERSION = '1.16.0';

/** The files for TRL only: the training program and its settings. */
export function trlFiles(folder: HandoverFolder): Files {
  const settings: Overrides = { ...overridesOf('trl', folder.config), ...folderSettings(folder) };
  return new Map([
    ['train_trl.py', utf8Bytes(trainingProgram)],
    ['trl.json', utf8Bytes(jsonText(settings))],
  ]);
}

/** The fields of GRPOConfig that depend on the folder, not on knobs. */
function folderSettings({ config, rules, longestPrompt }: HandoverFolder): Overrides {
  const { prompts, groupSize, minibatches, epochs } = config;
  return {
    max_completion_length: rules.maxTokens - longestPrompt,
    max_tool_calling_iterations: rules.maxTurns, // a rollout ends earlier if its episode is over
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
