import type { BatchView, PlayedBatch } from '../../domain/batch.ts';
import { kindsOf, type Span, type Turn, turnsOf, type TokenAuthors } from '../../domain/tokenSpans.ts';
import { type Kind, Role, type SpanKind, withBlanks, type Writing, writingOf } from '../../domain/tokens.ts';

/** A rollout's words and turns, of a batch or of a file. */
export interface ReadText {
  readonly words: readonly string[]; // as shown: a slot word is replaced by its name in this episode
  readonly tags: readonly boolean[]; // whether the token is a tag; a name that looks like a tag is not one
  readonly turns: readonly Turn[];
  readonly writing: Writing;
}

export interface Rollout extends ReadText {
  readonly row: number;
  readonly kinds: readonly (Kind | null)[];
  readonly turns: readonly Turn<Kind>[];
}

/** Tokens and who wrote them, one entry per token. `names` maps ids to their names in the episode. */
interface AuthoredTokens {
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
  readonly turns: Uint8Array;
  readonly names: ReadonlyMap<number, string> | undefined;
}

const rowsRead = new WeakMap<PlayedBatch, { vocabulary: readonly string[]; rows: Map<number, Rollout> }>();

/** Reads a row once for each batch, which is never modified. Works on the token ids; nothing is decoded and encoded again. */
export function readRollout(batch: PlayedBatch, vocabulary: readonly string[], row: number): Rollout {
  let read = rowsRead.get(batch);
  if (read?.vocabulary !== vocabulary) rowsRead.set(batch, (read = { vocabulary, rows: new Map() }));
  const rollout = read.rows.get(row) ?? readRow(batch, vocabulary, row);
  read.rows.set(row, rollout);
  return rollout;
}

function readRow(batch: PlayedBatch, vocabulary: readonly string[], row: number): Rollout {
  const start = row * batch.length;
  const end = start + (batch.lengths[row] ?? batch.length);
  const [tokens, roles, turns] = [
    batch.tokens.subarray(start, end),
    batch.roles.subarray(start, end),
    batch.turns.subarray(start, end),
  ];
  const names = batch.episodes.find((episode) => episode.row === row)?.names;
  return { row, ...readTokens({ tokens, roles, turns, names }, vocabulary) };
}

export function readTokens(written: AuthoredTokens, vocabulary: readonly string[]): Omit<Rollout, 'row'> {
  const ids = Array.from(written.tokens);
  const writing = writingOf(vocabulary);
  const vocabularyWords = ids.map((id) => withBlanks(vocabulary[id] ?? `#${id}`, writing));
  const words = ids.map((id, t) => written.names?.get(id) ?? vocabularyWords[t] ?? '');
  return { ...readWords(vocabularyWords, writing, written), words };
}

/** Reads words, or subword tokens with their blanks, into turns and spans. */
export function readWords(words: readonly string[], writing: Writing, writtenBy: TokenAuthors): Omit<Rollout, 'row'> {
  const kinds = kindsOf(words, writing, writtenBy);
  return {
    words,
    tags: words.map((word) => /^<.*>$/.test(word)),
    kinds,
    turns: turnsOf(kinds, writtenBy.turns),
    writing,
  };
}

export function textOf({ words, writing }: Pick<Rollout, 'words' | 'writing'>, tokens: readonly number[]): string {
  return tokens.map((t) => words[t] ?? '').join(writing === 'words' ? ' ' : '');
}

/** The turns of a rollout, cut off after its first `length` tokens. */
export function turnsUpTo<K extends SpanKind>(turns: readonly Turn<K>[], length: number): readonly Turn<K>[] {
  const cut = ({ kind, tokens }: Span<K>): Span<K> => ({ kind, tokens: tokens.filter((t) => t < length) });
  return turns
    .map(({ turn, spans }) => ({ turn, spans: spans.map(cut).filter(({ tokens }) => tokens.length > 0) }))
    .filter(({ spans }) => spans.length > 0);
}

/** Mean and standard deviation of the rewards of one prompt's rollouts; n − 1 in the denominator, as in the trainer. */
export function groupStats(rewards: readonly number[]): { mean: number; std: number } {
  const n = rewards.length;
  const mean = rewards.reduce((sum, r) => sum + r, 0) / Math.max(1, n);
  const squareSum = rewards.reduce((sum, r) => sum + (r - mean) ** 2, 0);
  return { mean, std: n > 1 ? Math.sqrt(squareSum / (n - 1)) : 0 };
}

/** Numbers of tokens of a batch. */
interface MaskAudit {
  readonly trained: number; // in the policy loss
  readonly observationsTrained: number;
  readonly observationsPredicted: number; // in the observation loss
  readonly observations: number;
}

/** Counts tokens in the loss from the tensors of a batch, not from the knobs: the page's own check of the masks. */
export function auditMask(batch: BatchView): MaskAudit {
  let [trained, observationsTrained, observationsPredicted, observations] = [0, 0, 0, 0];
  batch.roles.forEach((role, i) => {
    const inLoss = batch.lossMask[i] !== 0;
    if (inLoss) trained++;
    if (role !== Role.observation) return;
    observations++;
    if (inLoss) observationsTrained++;
    if (batch.observationMask?.[i] === 1) observationsPredicted++;
  });
  return { trained, observationsTrained, observationsPredicted, observations };
}
