import { isFieldName, parseField, type RunConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import { DEFAULTS, withCurrentNames } from '../config/fields.ts';
import { type KeptBatch, type EpochView, SCORE_NAMES, type ScoreName } from '../domain/batch.ts';
import { REWARD_PARTS } from '../domain/episode.ts';
import type { JsonRecord } from '../base/jsonRecord.ts';
import { field, flagOrNull, numberOrNull, numbersOrNull, objectAt, objectListAt } from './jsonFields.ts';

interface RowTokens {
  readonly ids: readonly number[];
  readonly roles: readonly number[];
  readonly turns: readonly number[];
}

const SCORE_KEYS: Readonly<Record<ScoreName, string>> = {
  ...{ values: 'values', returns: 'returns', advantages: 'advantages', refLogprobs: 'ref_logprobs' },
};

/**
 * A line of this project's own format as a batch of one row, so that the panels show a file as they show a run. The
 * batch has no episode, because the line's words already have the episode's names. Throws ProblemError on malformed
 * lists.
 */
export function ownBatch(line: JsonRecord, { ids, roles, turns }: RowTokens): KeptBatch {
  const length = ids.length;
  const floats = (key: string, record = line) => {
    const list = numbersOrNull(record, key, length);
    return Float32Array.from({ length }, (_, t) => list?.[t] ?? 0);
  };
  const bytes = (key: string) => Uint8Array.from(floats(key));
  const partLists = objectAt(line, 'reward_parts');
  const parts = REWARD_PARTS.filter((part) => field(partLists, part) !== undefined);
  const epochViews = objectListAt(line, 'passes').map((pass): EpochView => ({
    epoch: numberOrNull(pass, 'pass') ?? 0,
    gradWeights: floats('grad_weights', pass),
    policyWeights: floats('policy_weights', pass),
    shares: Float32Array.of(numberOrNull(pass, 'share') ?? 0),
  }));
  const batch = {
    ...{ update: numberOrNull(line, 'step') ?? 0, rows: 1, length, lengths: Int32Array.of(length), episodes: [] },
    ...{ tokens: Int32Array.from(ids), roles: Uint8Array.from(roles), turns: Uint8Array.from(turns) },
    ...{ states: bytes('states'), singles: bytes('singles') },
    ...{ sampledLogprobs: floats('sampled_logprobs'), logprobs: floats('logprobs'), entropies: floats('entropies') },
    ...(field(line, 'drawn_logprobs') !== undefined && { drawnLogprobs: floats('drawn_logprobs') }),
    ...{ values: floats('values'), returns: floats('returns'), refLogprobs: floats('ref_logprobs') },
    ...{ advantages: floats('advantages'), rewards: floats('rewards') },
    parts: Object.fromEntries(parts.map((part) => [part, floats(part, partLists)])),
    ...{ lossMask: floats('loss_mask'), advantageMask: floats('advantage_mask') },
    ...{ gradWeights: floats('grad_weights'), policyWeights: floats('policy_weights') },
    ...(epochViews.length > 0 && { epochViews }),
    kept: Uint8Array.of(flagOrNull(line, 'kept') === false ? 0 : 1),
    unscored: SCORE_NAMES.filter((name) => field(line, SCORE_KEYS[name]) === undefined),
  };
  return { batch, config: knobsOf(objectAt(line, 'knobs')) };
}

/** The defaults with the knobs that a line sets. Knobs and values that this version does not know are left out. */
function knobsOf(knobs: JsonRecord): RunConfig {
  const current = withCurrentNames(knobs);
  const knownNames = Object.keys(current).filter(isFieldName);
  const parsed = knownNames.flatMap((name) => {
    try {
      return [[name, parseField(name, field(current, name))] as const];
    } catch (error) {
      if (error instanceof ConfigError) return [];
      throw error;
    }
  });
  return { ...DEFAULTS, ...Object.fromEntries(parsed) };
}
