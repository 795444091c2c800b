import { utf8Bytes, type Files } from '../checkpoints/checkpointFolder.ts';
import agentModule from './python/playground_verl.py?raw';
import type { Overrides } from './counterparts.ts';
import { overridesOf, configValue } from './mapping.ts';
import { AGENT_LOOP, type RunFolder } from './taskRows.ts';

/** The version of verl that both kinds of folder are tested with. */
export const VERL_VERSION = '0.9.1';

/** A run's files for verl only: agent loop, tool and run script. */
export function verlRunFiles(folder: RunFolder): Files {
  return new Map([
    ['playground_verl.py', utf8Bytes(agentModule)],
    ['tools.yaml', utf8Bytes(toolsFile(folder))],
    ['agent_loop.yaml', utf8Bytes(`- name: ${AGENT_LOOP}\n  _target_: playground_verl.PlaygroundAgentLoop\n`)],
    ['run.sh', utf8Bytes(runScript(folder))],
  ]);
}

/** tools.yaml: the environment's tool in OpenAI's schema. Every JSON string is a valid YAML string. */
function toolsFile({ rules: { tool } }: RunFolder): string {
  return `tools:
  - class_name: playground_verl.PlaygroundTool
    config: {type: native}
    tool_schema:
      type: function
      function:
        name: ${JSON.stringify(tool.name)}
        description: ${JSON.stringify(tool.description)}
        parameters:
          type: object
          properties:
            words: {type: string, description: "The words of the turn, tags included."}
          required: [words]
`;
}

/** The folder, as a variable of the shell. */
const FOLDER_VARIABLE = '$HERE';

/** The settings that depend on the folder, not on knobs. `${…}` are variables of the shell. */
function folderOverrides({ config, rules, train, longestPrompt }: RunFolder): Overrides {
  const { updates, prompts } = config;
  return {
    'data.train_files': `${FOLDER_VARIABLE}/train.jsonl`,
    'data.val_files': `${FOLDER_VARIABLE}/val.jsonl`,
    'data.max_prompt_length': longestPrompt,
    'data.max_response_length': rules.maxTokens - longestPrompt,
    'data.return_raw_chat': true,
    'data.shuffle': false, // rows are in the order in which the page draws them
    'actor_rollout_ref.model.path': `${FOLDER_VARIABLE}/model`,
    '+actor_rollout_ref.model.override_config.attn_implementation': 'sdpa',
    'actor_rollout_ref.model.use_remove_padding': false, // it would need flash attention, and larger heads
    'actor_rollout_ref.actor.use_dynamic_bsz': true,
    'actor_rollout_ref.actor.ppo_max_token_len_per_gpu': Math.max(16384, rules.maxTokens),
    'actor_rollout_ref.rollout.name': 'vllm',
    'actor_rollout_ref.rollout.tensor_model_parallel_size': 1,
    'actor_rollout_ref.rollout.gpu_memory_utilization': 0.4,
    'actor_rollout_ref.rollout.max_model_len': rules.maxTokens,
    'actor_rollout_ref.rollout.multi_turn.enable': true,
    'actor_rollout_ref.rollout.multi_turn.max_assistant_turns': config.maxTurns,
    'actor_rollout_ref.rollout.multi_turn.tool_config_path': `${FOLDER_VARIABLE}/tools.yaml`,
    'actor_rollout_ref.rollout.agent.default_agent_loop': AGENT_LOOP,
    'actor_rollout_ref.rollout.agent.agent_loop_config_path': `${FOLDER_VARIABLE}/agent_loop.yaml`,
    'critic.model.path': `${FOLDER_VARIABLE}/model`,
    '+critic.model.override_config.attn_implementation': 'sdpa',
    'critic.model.use_remove_padding': false,
    'reward.custom_reward_function.path': `${FOLDER_VARIABLE}/playground_verl.py`,
    'reward.custom_reward_function.name': 'compute_score',
    'trainer.n_gpus_per_node': '${N_GPUS:-1}',
    'trainer.nnodes': '${NNODES:-1}',
    'trainer.project_name': 'rollout-playground',
    'trainer.experiment_name': rules.name,
    'trainer.logger': '[console,tensorboard]',
    'trainer.total_epochs': Math.max(1, Math.ceil((updates * prompts) / Math.max(1, train.length))),
    'trainer.save_freq': updates,
    'trainer.default_local_dir': `${FOLDER_VARIABLE}/checkpoints`,
    'trainer.rollout_data_dir': `${FOLDER_VARIABLE}/rollouts`,
    'trainer.validation_data_dir': `${FOLDER_VARIABLE}/rollouts-val`,
    '+ray_kwargs.ray_init.runtime_env.env_vars.PYTHONPATH': FOLDER_VARIABLE,
  };
}

/** run.sh: one line for every override, with those from knobs first. */
function runScript(folder: RunFolder): string {
  const entries = [...Object.entries(overridesOf('verl', folder.config)), ...Object.entries(folderOverrides(folder))];
  const overrides = entries.map(([name, value]) => `  "${name}=${hydraValue(value)}" \\\n`).join('');
  return `#!/usr/bin/env bash
# Trains ${folder.rules.name} with verl ${VERL_VERSION}, on one GPU: bash run.sh
# With more GPUs: N_GPUS=8 bash run.sh. To change settings, append them: bash run.sh trainer.total_training_steps=10
set -euo pipefail
HERE="$(cd "$(dirname "\${BASH_SOURCE[0]}")" && pwd)"
export PYTHONPATH="$HERE\${PYTHONPATH:+:$PYTHONPATH}"
python3 -m verl.trainer.main_ppo \\
${overrides}  "$@"
`;
}

function hydraValue(value: Overrides[string]): string {
  if (value === null || typeof value !== 'object') return configValue(value);
  if (Array.isArray(value)) return `[${value.join(',')}]`;
  return `{${Object.entries(value)
    .map(([name, number]) => `${name}:${String(number)}`)
    .join(',')}}`;
}
