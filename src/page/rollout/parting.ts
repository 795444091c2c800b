import type { Turn } from '../../domain/tokenSpans.ts';
import { type BatchView, behaviourLogprobs } from '../../domain/batch.ts';
import { Role } from '../../domain/tokens.ts';
import type { RolloutRecord } from '../../rollouts/rolloutRecord.ts';
import { type ReadText, readRollout } from './readRollout.ts';

export interface ComparedRollout {
  readonly name: string;
  readonly text: ReadText;
  /** Log-probability with which the token at a position was drawn; undefined if nobody drew it, or if it isn't known. */
  readonly drawnLogprob: (t: number) => number | undefined;
}

/** The place where two rollouts part. */
export interface Parting {
  readonly at: number; // first position whose words differ; the length of the shorter rollout if the longer begins with it
  readonly turn: number; // the turn of that position
  readonly turns: readonly number[]; // all turns of both, ascending
}

/** Null if the rollouts are identical. Compares words, because the vocabularies of two runs number them differently. */
export function partingOf(a: ReadText, b: ReadText): Parting | null {
  const at = sharedPrefixLength([a.words, b.words]);
  if (at === a.words.length && at === b.words.length) return null;
  const turns = [...new Set([...a.turns, ...b.turns].map(({ turn }) => turn))].sort((one, other) => one - other);
  return { at, turn: turnAt(at < a.words.length ? a : b, at), turns };
}

function turnAt({ turns }: ReadText, t: number): number {
  return turns.find(({ spans }) => spans.some(({ tokens }) => tokens.includes(t)))?.turn ?? 0;
}

export function comparedRow(
  name: string,
  batch: BatchView,
  vocabulary: readonly string[],
  row: number,
): ComparedRollout {
  const start = row * batch.length;
  return {
    name,
    text: readRollout(batch, vocabulary, row),
    drawnLogprob: (t) => (batch.roles[start + t] === Role.action ? behaviourLogprobs(batch)[start + t] : undefined),
  };
}

/** A rollout of a file. Texts that the file has no tokens for are split at blanks. */
export function comparedRecord(name: string, { segments, tokens }: RolloutRecord): ComparedRollout {
  const hasTokens = tokens?.words && segments.every(({ from }) => from !== null);
  const words: string[] = hasTokens ? [...tokens.words] : [];
  const turns: Turn[] = [];
  for (const { kind, turn, text, from, to } of segments) {
    const start = hasTokens ? (from ?? 0) : words.length;
    if (!hasTokens) words.push(...(text.match(/\s*\S+\s*/g) ?? []));
    const end = hasTokens ? (to ?? start) : words.length;
    const span = { kind, tokens: Array.from({ length: end - start }, (_, i) => start + i) };
    const last = turns.at(-1);
    if (last?.turn === turn) turns[turns.length - 1] = { turn, spans: [...last.spans, span] };
    else turns.push({ turn, spans: [span] });
  }
  const logprobs = tokens?.channels.drawnLogprob ?? tokens?.channels.sampledLogprob ?? tokens?.channels.logprob;
  const writing = hasTokens ? (tokens.writing ?? 'words') : 'bytes';
  return {
    name,
    text: { words, tags: words.map((word) => writing === 'words' && /^<.*>$/.test(word)), turns, writing },
    drawnLogprob: (t) => (hasTokens ? (logprobs?.[t] ?? undefined) : undefined),
  };
}

/** The number of tokens that all rows begin with: the length of the shortest row if all others begin with it. */
export function sharedPrefixLength(rows: readonly ArrayLike<number | string>[]): number {
  const [first, ...others] = rows;
  if (!first) return 0;
  let length = Math.min(...rows.map((row) => row.length));
  for (const other of others) {
    let at = 0;
    while (at < length && other[at] === first[at]) at++;
    length = at;
  }
  return length;
}
