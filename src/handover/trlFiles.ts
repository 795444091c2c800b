import { bytesOf, type Files } from '../checkpoints/checkpointFolder.ts';
import { jsonText } from '../formats/jsonFile.ts';
import trainingProgram from './python/train_trl.py?raw';
import type { Overrides } from './counterparts.ts';
import type { Folder } from './handoverFolder.ts';
import { overridesOf } from './mapping.ts';

/** The version of TRL that the folder is tested with. */
export const TRL = '1.16.0';

/** The files that only TRL reads: the training program, and its settings. */
export function trlFiles(folder: Folder): Files {
  const settings: Overrides = { ...overridesOf('trl', folder.config), ...folderSettings(folder) };
  return new Map([
    ['train_trl.py', bytesOf(trainingProgram)],
    ['trl.json', bytesOf(jsonText(settings))],
  ]);
}

/** Fields of GRPOConfig that follow from the folder, not from knobs. */
function folderSettings({ config, rules, longestPrompt }: Folder): Overrides {
  const { prompts, groupSize, minibatches, epochs } = config;
  return {
    max_completion_length: rules.maxTokens - longestPrompt,
    max_tool_calling_iterations: rules.maxTurns, // an environment that is over ends the rollout before
    gradient_accumulation_steps: 1, // a minibatch is an optimizer step
    per_device_eval_batch_size: prompts * groupSize,
    num_generations_eval: 1,
    reward_weights: [0], // success is shown; the environment's own reward counts
    shuffle_dataset: false, // rows stand as the page draws them, update after update
    bf16: false,
    report_to: 'none',
    logging_steps: minibatches * epochs,
    save_strategy: 'no',
    log_completions: false,
  };
}
