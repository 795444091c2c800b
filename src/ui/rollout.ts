import type { BatchView } from '../protocol.ts';
import { Role } from '../tokens.ts';
import { isTag, kindsOf, type Kind } from './kinds.ts';

/** Consecutive tokens of one kind. */
export interface Span {
  readonly kind: Kind;
  readonly tokens: readonly number[]; // positions in the row
}
/** One turn: what the agent said and what came back; turn 0 is the prompt. */
export interface Turn {
  readonly turn: number;
  readonly spans: readonly Span[];
}
/** One row of a batch, ready to read. */
export interface Rollout {
  readonly row: number;
  readonly words: readonly string[]; // as people read them: a slot word by the name it has in this episode
  readonly tags: readonly boolean[]; // the token is a tag; a name that looks like one is not
  readonly kinds: readonly (Kind | null)[];
  readonly turns: readonly Turn[];
}

/** Reads row `row` of a batch into turns and spans; nothing is decoded and encoded again. */
export function readRollout(batch: BatchView, vocabulary: readonly string[], row: number): Rollout {
  const from = row * batch.length;
  const length = batch.lengths[row] ?? batch.length;
  const roles = batch.roles.subarray(from, from + length);
  const ids = Array.from(batch.tokens.subarray(from, from + length));
  const names = batch.episodes.find((episode) => episode.row === row)?.names;
  const plain = ids.map((id) => vocabulary[id] ?? `#${id}`);
  const words = ids.map((id, t) => names?.get(id) ?? plain[t] ?? '');
  const kinds = kindsOf(plain, roles);
  const turns: { turn: number; spans: { kind: Kind; tokens: number[] }[] }[] = [];
  kinds.forEach((kind, t) => {
    if (kind === null) return;
    const number = batch.turns[from + t] ?? 0;
    let turn = turns.at(-1);
    if (turn?.turn !== number) turns.push((turn = { turn: number, spans: [] }));
    const span = turn.spans.at(-1);
    if (span?.kind === kind) span.tokens.push(t);
    else turn.spans.push({ kind, tokens: [t] });
  });
  return { row, words, tags: plain.map(isTag), kinds, turns };
}

/** Reward statistics of the rollouts of one prompt, n − 1 in the denominator as the trainer has it. */
export function groupStats(rewards: readonly number[]): { mean: number; std: number } {
  const n = rewards.length;
  const mean = rewards.reduce((sum, r) => sum + r, 0) / Math.max(1, n);
  const square = rewards.reduce((sum, r) => sum + (r - mean) ** 2, 0);
  return { mean, std: n > 1 ? Math.sqrt(square / (n - 1)) : 0 };
}

/** Counts over the real tensors of a batch, not derived from the switches: the page's own audit of the masks. */
export function auditMask(batch: BatchView): { trained: number; observationsTrained: number; observations: number } {
  let [trained, observationsTrained, observations] = [0, 0, 0];
  batch.roles.forEach((role, i) => {
    const inLoss = batch.lossMask[i] !== 0;
    if (inLoss) trained++;
    if (role !== Role.observation) return;
    observations++;
    if (inLoss) observationsTrained++;
  });
  return { trained, observationsTrained, observations };
}
