import type { KeptBatch } from '../../domain/batch.ts';
import { type Moment, momentOf, truncatedMoment } from './moment.ts';

export interface ClipFrame<M = Moment> {
  readonly moment: M;
  readonly ms: number;
}

const MAX_ROLLOUT_FRAMES = 48;
const TOKEN_MS = 160;
const OBSERVATION_MS = 480; // longer, so that the tool's answer is noticed
const END_MS = 2200; // last frame, before the clip begins again
const CURVE_STEPS = 40; // of the curve in a training
const CURVE_STEP_MS = 110;
const NEW_ROLLOUT_MS = 900; // frame with a new rollout

/** The rollout appears token by token, but each tool answer at once. Long rollouts have several tokens per frame. */
export function rolloutFrames(moment: Moment): readonly ClipFrame[] {
  const { rollout } = moment;
  const promptLength = rollout.kinds.findIndex((kind) => kind !== 'prompt');
  const ends = rollout.turns
    .flatMap(({ spans }) => spans)
    .flatMap(({ kind, tokens }) => (kind === 'observation' || kind === 'prompt' ? tokens.slice(-1) : tokens))
    .filter((t) => t >= promptLength)
    .map((t) => t + 1);
  const tokensPerFrame = Math.ceil(ends.length / MAX_ROLLOUT_FRAMES);
  const frameEnds = ends.filter((_, i) => i === ends.length - 1 || (i + 1) % tokensPerFrame === 0);
  return frameEnds.map((end, i) => ({
    moment: truncatedMoment(moment, end),
    ms: i === frameEnds.length - 1 ? END_MS : rollout.kinds[end - 1] === 'observation' ? OBSERVATION_MS : TOKEN_MS,
  }));
}

/** The curve grows from the first update to the last, and each stored rollout is shown from its update on. */
export function trainingFrames(
  batches: readonly KeptBatch[],
  vocabulary: readonly string[],
  row: number,
): readonly ClipFrame[] {
  const updates = batches.map(({ batch }) => batch.update);
  const [first = 0, last = 0] = [updates[0], updates.at(-1)];
  const curveUpdates = Array.from({ length: CURVE_STEPS + 1 }, (_, i) =>
    Math.round(first + (i * (last - first)) / CURVE_STEPS),
  );
  const shownUpdates = [...new Set([...updates, ...curveUpdates])].sort((a, b) => a - b);
  return shownUpdates.flatMap((lastCurveUpdate) => {
    const recordedBatch = batches.findLast(({ batch }) => batch.update <= lastCurveUpdate);
    if (!recordedBatch) return [];
    const hasNewRollout = updates.includes(lastCurveUpdate);
    const ms = lastCurveUpdate === last ? END_MS : hasNewRollout ? NEW_ROLLOUT_MS : CURVE_STEP_MS;
    return [{ moment: momentOf(recordedBatch.batch, vocabulary, row, lastCurveUpdate), ms }];
  });
}
