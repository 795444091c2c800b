import { DEFAULTS, type RunConfig } from '../config/fields.ts';
import type { KeptBatch } from '../domain/batch.ts';
import { type BatchRow, rowsOf } from './batchRow.ts';
import { OWN_FORMAT, OWN_VERSION } from './ownFormat.ts';

/**
 * A kept batch as this project's own JSON Lines, one rollout per line, with everything that the panels show of it. Each
 * line is complete in itself. docs/rollouts.md has the schema. Lists that were not measured (for example values without
 * a critic) are left out.
 */
export function ownLines(keptBatch: KeptBatch, vocabulary: readonly string[]): string[] {
  return rowsOf(keptBatch, vocabulary).map((row) => `${JSON.stringify(ownLine(row))}\n`);
}

function ownLine(row: BatchRow): Readonly<Record<string, unknown>> {
  const { episode, epochViews } = row;
  const passRecords = epochViews.map(({ epoch, gradWeights, policyWeights, shares }) => ({
    pass: epoch,
    share: shares.length === gradWeights.length ? row.rowSlice(shares) : shares[episode.row],
    grad_weights: row.rowSlice(gradWeights),
    policy_weights: row.rowSlice(policyWeights),
  }));
  return {
    ...{ format: OWN_FORMAT, version: OWN_VERSION, id: row.id, step: row.update, group: row.group },
    ...{ question: episode.question, reward: episode.reward, parts: episode.parts, success: episode.success },
    ...{ stop: episode.stop, turns: episode.turns, tool_calls: episode.toolCalls, invalid_turns: episode.invalidTurns },
    ...{ waited: episode.waited, kept: row.learnedFrom, seed: episode.seed, environment_seed: episode.environmentSeed },
    ...{ preference_score: episode.preferenceScore ?? undefined, scores: episode.scores ?? undefined },
    ...{ knobs: changedKnobs(row.config), view: episode.view },
    ...{
      tokens: row.ids,
      words: row.words,
      ...(row.writing === 'bytes' && { writing: row.writing }),
      roles: row.list('roles'),
      turn_of: row.list('turns'),
    },
    context_starts: row.list('contextStarts'),
    drifted: row.list('drifted'),
    ...{ states: row.list('states'), singles: row.list('singles'), bodies: row.list('bodies') },
    ...{ loss_mask: row.list('lossMask'), advantage_mask: row.list('advantageMask') },
    observation_mask: row.list('observationMask'),
    ...{ advantages: row.list('advantages'), returns: row.list('returns'), values: row.list('values') },
    ...{ rewards: row.list('rewards'), reward_parts: Object.fromEntries(row.partLists) },
    ...{ sampled_logprobs: row.list('sampledLogprobs'), drawn_logprobs: row.list('drawnLogprobs') },
    correction_weights: row.list('corrections'),
    ...{ logprobs: row.list('logprobs'), ref_logprobs: row.list('refLogprobs'), entropies: row.list('entropies') },
    push: row.push,
    ...{ grad_weights: row.list('gradWeights'), policy_weights: row.list('policyWeights') },
    ...(passRecords.length > 0 && { passes: passRecords }),
  };
}

/** Environment and estimator are always included, because they say what the numbers mean. */
function changedKnobs(config: RunConfig): Readonly<Record<string, string | number>> {
  const changed = Object.entries(config).filter(
    ([name, value]) =>
      name === 'env' ||
      name === 'estimator' ||
      !Object.is(value, Object.entries(DEFAULTS).find(([knob]) => knob === name)?.[1]),
  );
  return Object.fromEntries(changed);
}
