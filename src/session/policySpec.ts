import type { BaseCheckpoint } from '../checkpoints/baseCheckpoint.ts';
import type { RunConfig } from '../config/fields.ts';
import type { ToolEnv } from '../envs/env.ts';
import { rowLength } from '../envs/rowsPerTurn.ts';
import { modelConfig } from '../model/architecture.ts';
import type { PolicySpec } from '../model/policy.ts';

export type RolloutSize = Pick<ToolEnv, 'maxTokens' | 'maxTurnTokens' | 'maxTurns' | 'vocabulary'>;

/** `base` is the checkpoint that the run trains adapters for, if there is one. */
export function policySpec(
  config: RunConfig,
  env: RolloutSize,
  base: Pick<BaseCheckpoint, 'model'> | null,
): PolicySpec {
  const { critic, prompts, groupSize, minibatches } = config;
  const rows = prompts * groupSize;
  const value_head = critic === 'shared';
  const model = base ? { ...base.model, value_head } : modelConfig(config, env.vocabulary.length, value_head);
  return { model, critic, rows, length: rowLength(config, env), minibatchRows: rows / minibatches };
}
