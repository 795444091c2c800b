import type { JsonRecord } from '../base/jsonRecord.ts';
import {
  unreadValues,
  field,
  flagOrNull,
  idsOrNull,
  numberOrNull,
  numbersOrNull,
  objectAt,
  objectListAt,
  shown,
  textOrNull,
} from './jsonFields.ts';
import { ProblemError } from '../base/problem.ts';
import type { RolloutFormat } from './rolloutFormat.ts';
import { type RewardPart, REWARD_PARTS } from '../domain/episode.ts';
import { kindsOf, turnsOf, type TokenAuthors } from '../domain/tokenSpans.ts';
import { Role, withBlanks, type Writing } from '../domain/tokens.ts';
import { recordWithDefaults, type RolloutRecord, type Segment, type TokenChannel } from './rolloutRecord.ts';
import { isFieldName, parseField, type RunConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import { DEFAULTS, withCurrentNames } from '../config/fields.ts';
import { type KeptBatch, type EpochView, SCORE_NAMES, type ScoreName } from '../domain/batch.ts';

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
function ownBatch(line: JsonRecord, { ids, roles, turns }: RowTokens): KeptBatch {
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
    shares: Array.isArray(field(pass, 'share'))
      ? floats('share', pass)
      : Float32Array.of(numberOrNull(pass, 'share') ?? 0),
  }));
  const batch = {
    ...{ update: numberOrNull(line, 'step') ?? 0, rows: 1, length, lengths: Int32Array.of(length), episodes: [] },
    ...{ tokens: Int32Array.from(ids), roles: Uint8Array.from(roles), turns: Uint8Array.from(turns) },
    ...{ states: bytes('states'), singles: bytes('singles') },
    ...(field(line, 'bodies') !== undefined && { bodies: bytes('bodies') }),
    ...(field(line, 'drifted') !== undefined && { drifted: bytes('drifted') }),
    ...(field(line, 'context_starts') !== undefined && { contextStarts: Int32Array.from(floats('context_starts')) }),
    ...{ sampledLogprobs: floats('sampled_logprobs'), logprobs: floats('logprobs'), entropies: floats('entropies') },
    ...(field(line, 'drawn_logprobs') !== undefined && { drawnLogprobs: floats('drawn_logprobs') }),
    ...(field(line, 'correction_weights') !== undefined && { corrections: floats('correction_weights') }),
    ...{ values: floats('values'), returns: floats('returns'), refLogprobs: floats('ref_logprobs') },
    ...{ advantages: floats('advantages'), rewards: floats('rewards') },
    parts: Object.fromEntries(parts.map((part) => [part, floats(part, partLists)])),
    ...{ lossMask: floats('loss_mask'), advantageMask: floats('advantage_mask') },
    ...(field(line, 'observation_mask') !== undefined && { observationMask: floats('observation_mask') }),
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

/** The value of `format`, the first key in each line of this project's own format. */
export const OWN_FORMAT = 'rollout-playground';
export const OWN_VERSION = 1;

/** The lists with one entry per token, by key, and the tokens that each applies to. */
const OWN_CHANNELS = {
  loss_mask: { channel: 'loss', tokenSet: 'response' },
  advantage_mask: { channel: 'credit', tokenSet: 'response' },
  advantages: { channel: 'advantage', tokenSet: 'loss' },
  push: { channel: 'push', tokenSet: 'loss' },
  sampled_logprobs: { channel: 'sampledLogprob', tokenSet: 'action' },
  drawn_logprobs: { channel: 'drawnLogprob', tokenSet: 'action' },
  logprobs: { channel: 'logprob', tokenSet: 'learned' },
  ref_logprobs: { channel: 'refLogprob', tokenSet: 'learned' },
  entropies: { channel: 'entropy', tokenSet: 'learned' },
  values: { channel: 'value', tokenSet: 'learned' },
  returns: { channel: 'return', tokenSet: 'learned' },
  rewards: { channel: 'reward', tokenSet: 'response' },
} as const satisfies Readonly<
  Record<string, { channel: TokenChannel; tokenSet: 'response' | 'loss' | 'action' | 'learned' }>
>;
type OwnChannel = keyof typeof OWN_CHANNELS;
const OWN_CHANNEL_KEYS = Object.keys(OWN_CHANNELS) as OwnChannel[];

const KEYS_READ = [
  ...[
    'format',
    'version',
    'id',
    'step',
    'group',
    'question',
    'reward',
    'parts',
    'success',
    'stop',
    'turns',
    'tool_calls',
  ],
  ...[
    'tokens',
    'words',
    'writing',
    'roles',
    'turn_of',
    'reward_parts',
    'states',
    'singles',
    'bodies',
    'drifted',
    'observation_mask',
    'context_starts',
    'passes',
    'grad_weights',
    'policy_weights',
  ],
  ...OWN_CHANNEL_KEYS,
];

/** This project's own JSON Lines. docs/rollouts.md has the schema. */
export const ownFormat: RolloutFormat = {
  name: OWN_FORMAT,
  label: 'Rollout Playground',
  keys: `format: "${OWN_FORMAT}"`,
  recognises: (line) => field(line, 'format') === OWN_FORMAT,
  read: (line) => [readOwn(line)],
};

function readOwn(line: JsonRecord): RolloutRecord {
  const version = numberOrNull(line, 'version');
  if (version !== OWN_VERSION) throw new ProblemError({ got: `version ${version}`, want: `version ${OWN_VERSION}` });
  const ids = idsOrNull(line, 'tokens');
  if (!ids) throw new ProblemError({ got: 'no tokens', want: 'a list of token ids' });
  const list = (key: string) => {
    const numbers = numbersOrNull(line, key, ids.length);
    if (!numbers) throw new ProblemError({ got: `no ${key}`, want: 'a list with an entry for each token' });
    return numbers.map((number) => number ?? 0);
  };
  const roles = list('roles');
  const turns = list('turn_of');
  const writing = textOrNull(line, 'writing') === 'bytes' ? 'bytes' : 'words';
  const words = wordsOf(line, ids.length).map((word) => withBlanks(word, writing));
  const loss = numbersOrNull(line, 'loss_mask', ids.length);
  const channels: Partial<Record<TokenChannel, readonly (number | null)[]>> = {
    sampled: roles.map((role) => Number(role === Role.action)),
  };
  for (const key of OWN_CHANNEL_KEYS) {
    const values = numbersOrNull(line, key, ids.length);
    const { channel, tokenSet } = OWN_CHANNELS[key];
    if (values)
      channels[channel] = values.map((value, t) => (appliesTo(tokenSet, roles[t], loss?.[t], value) ? value : null));
  }
  const parts = objectAt(line, 'reward_parts');
  const rewardLists = Object.keys(parts).map((name) => [name, numbersOrNull(parts, name, ids.length) ?? []] as const);
  return recordWithDefaults({
    id: textOrNull(line, 'id'),
    step: numberOrNull(line, 'step'),
    group: textOrNull(line, 'group'),
    task: textOrNull(line, 'question'),
    reward: numberOrNull(line, 'reward'),
    rewardParts: rewardPartsOf(objectAt(line, 'parts')),
    success: flagOrNull(line, 'success'),
    stop: textOrNull(line, 'stop'),
    turns: numberOrNull(line, 'turns'),
    toolCalls: numberOrNull(line, 'tool_calls'),
    segments: segmentsOfTokens({ roles, turns }, words, writing),
    tokens: { ids, words, writing, channels, parts: rewardLists },
    batch: ownBatch(line, { ids, roles, turns }),
    extras: [...unreadValues(line, KEYS_READ), ...passesText(line)],
  });
}

/** Whether a list applies to a token. The file has 0 at tokens to which it does not. */
function appliesTo(
  tokenSet: 'response' | 'loss' | 'action' | 'learned',
  role: number | undefined,
  loss: number | null | undefined,
  value: number | null,
): boolean {
  const inLoss = (loss ?? 0) !== 0;
  const isAction = role === Role.action;
  if (tokenSet === 'response') return isAction || role === Role.observation;
  if (tokenSet === 'action') return isAction;
  // tokens outside the policy loss may still have a push, from the KL term
  return tokenSet === 'loss' ? inLoss || (value !== 0 && value !== null) : isAction || inLoss;
}

function wordsOf(line: JsonRecord, length: number): string[] {
  const list = field(line, 'words');
  if (!Array.isArray(list) || list.length !== length) {
    throw new ProblemError({ got: `${shown(list)} for words`, want: `a list of ${length}, one for each token` });
  }
  return list.map((word: unknown, i) => {
    if (typeof word !== 'string')
      throw new ProblemError({ got: `${shown(word)} in words, entry ${i + 1}`, want: 'a word' });
    return word;
  });
}

function rewardPartsOf(parts: JsonRecord): (readonly [string, number])[] {
  const displayOrder: readonly string[] = REWARD_PARTS satisfies readonly RewardPart[];
  return Object.keys(parts)
    .sort((a, b) => displayOrder.indexOf(a) - displayOrder.indexOf(b))
    .flatMap((name) => {
      const amount = numberOrNull(parts, name);
      return amount === null || amount === 0 ? [] : [[name, amount] as const];
    });
}

function passesText(line: JsonRecord): (readonly [string, string])[] {
  const passes = objectListAt(line, 'passes');
  return passes.length === 0 ? [] : [['passes', `the file has ${passes.length} over the batch`]];
}

/** The segments of a rollout: runs of words of one kind, as in the page's panels. */
function segmentsOfTokens(rolesAndTurns: TokenAuthors, words: readonly string[], writing: Writing): Segment[] {
  return turnsOf(kindsOf(words, writing, rolesAndTurns), rolesAndTurns.turns).flatMap(({ turn, spans }) =>
    spans.map(({ kind, tokens }): Segment => {
      const role = kind === 'prompt' || kind === 'observation' ? kind : 'action';
      const spanWords = tokens.map((t) => words[t] ?? '');
      const text = writing === 'words' ? spanWords.join(' ') : spanWords.join('').replaceAll('⏎', '\n');
      const from = tokens[0] ?? 0;
      return { role, kind, turn, text, from, to: from + tokens.length };
    }),
  );
}
