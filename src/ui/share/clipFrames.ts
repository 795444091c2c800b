import type { KeptBatch } from '../../domain/batch.ts';
import { type Moment, momentOf, upTo } from './moment.ts';

/** A picture of a clip, and how long it is shown. */
export interface ClipFrame<M = Moment> {
  readonly moment: M;
  readonly ms: number;
}

const MOST = 48; // frames of a rollout
const TOKEN_MS = 160;
const OBSERVATION_MS = 480; // what came back is to be noticed
const END_MS = 2200; // before it begins again
const STEPS = 40; // of a training
const STEP_MS = 110;
const LOOK_MS = 900; // where another rollout comes into view

/** A rollout as it was written: token by token, what the tool wrote at once. Long ones take several tokens a frame. */
export function rolloutFrames(moment: Moment): readonly ClipFrame[] {
  const { rollout } = moment;
  const prompt = rollout.kinds.findIndex((kind) => kind !== 'prompt');
  const ends = rollout.turns
    .flatMap(({ spans }) => spans)
    .flatMap(({ kind, tokens }) => (kind === 'observation' ? tokens.slice(-1) : tokens))
    .filter((t) => t >= prompt)
    .map((t) => t + 1);
  const every = Math.ceil(ends.length / MOST);
  const frameEnds = ends.filter((_, i) => i === ends.length - 1 || (i + 1) % every === 0);
  return frameEnds.map((end, i) => ({
    moment: upTo(moment, end),
    ms: i === frameEnds.length - 1 ? END_MS : rollout.kinds[end - 1] === 'observation' ? OBSERVATION_MS : TOKEN_MS,
  }));
}

/** A training from its first update to its last: the curve grows, and each kept rollout stands from its update on. */
export function trainingFrames(
  batches: readonly KeptBatch[],
  vocabulary: readonly string[],
  row: number,
): readonly ClipFrame[] {
  const updates = batches.map(({ batch }) => batch.update);
  const [first = 0, last = 0] = [updates[0], updates.at(-1)];
  const between = Array.from({ length: STEPS + 1 }, (_, i) => Math.round(first + (i * (last - first)) / STEPS));
  const shown = [...new Set([...updates, ...between])].sort((a, b) => a - b);
  return shown.flatMap((until) => {
    const recordedBatch = batches.findLast(({ batch }) => batch.update <= until);
    if (!recordedBatch) return [];
    const fresh = updates.includes(until);
    const ms = until === last ? END_MS : fresh ? LOOK_MS : STEP_MS;
    return [{ moment: momentOf(recordedBatch.batch, vocabulary, row, until), ms }];
  });
}
