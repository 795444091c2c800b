import type { FieldName, RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { BatchPreview, ObjectiveMeans } from '../../domain/readings.ts';
import { counted, percent, shortNumber, wholeNumber } from '../words/numberText.ts';
import { isClipped, pushAt, epochsOf } from './channels.ts';

/** The numbers of the loss that a preview reports for a changed knob, in addition to changes of advantages and pushes. */
const LOSS_METRICS: Readonly<
  Partial<Record<FieldName, readonly (readonly [label: string, of: keyof ObjectiveMeans])[]>>
> = {
  dualClip: [['dual-clip fraction, mean over the steps', 'clipFractionLower']],
  entropyCoef: [['loss', 'total']],
  klCoef: [['KL', 'kl']],
  klEstimator: [['KL', 'kl']],
  klTimesRatio: [['KL', 'kl']],
  observationLoss: [['loss', 'total']],
  valueCoef: [['loss', 'total']],
  valueClip: [['value loss', 'valueLoss']],
  aggregation: [['policy loss', 'policyLoss']],
};
const FRACTION_METRICS: readonly (keyof ObjectiveMeans)[] = ['clipFraction', 'clipFractionLower'];
const CLIP_KNOBS: readonly FieldName[] = ['surrogate', 'clipLow', 'clipHigh', 'dualClip'];

export interface PreviewedBatch {
  readonly batch: BatchView;
  readonly changes: Partial<RunConfig>;
  readonly preview: BatchPreview | Pick<BatchPreview, 'batch' | 'before'>;
}

export interface PreviewNumbers {
  readonly sentence: string; // the changes of the loss, of clipping, advantages and pushes, in words
  /** Flat indexes of the changed tokens: in text order for changes of clipping, otherwise the most changed first. */
  readonly tokens: readonly number[];
}

/** How changed knobs would have changed the loss, the clip, the advantages and the pushes of its batch. */
export function previewNumbers({ batch, changes, preview: previewResult }: PreviewedBatch): PreviewNumbers {
  const { batch: preview } = previewResult;
  const names = Object.keys(changes) as FieldName[];
  // a recorded preview has no losses
  const lossNumbers = 'meansBefore' in previewResult ? lossChanges(previewResult, names) : [];
  const was: BatchView = { ...batch, ...previewResult.before };
  const advantageChanges = compareTokens(was, preview, (each, i) => each.advantages[i] ?? 0);
  // tokens in the loss come first; the advantage of other tokens, such as the tool's words, pushes nothing
  const [inLoss, outside] = [true, false].map((want) =>
    advantageChanges.changedTokens.filter((i) => isInLoss(was, preview, i) === want),
  );
  if (advantageChanges.changedTokens.length > 0) {
    // if a token is clipped before or after the change, its push isn't reversed, although its advantage changes sign
    const unpushed = advantageChanges.signChanged.filter((i) => isInLoss(was, preview, i) && (pushAt(was, i) === 0 || pushAt(preview, i) === 0)); // prettier-ignore
    const unpushedNote = unpushed.length > 0 ? ` (${wholeNumber(unpushed.length)} without a push before or after)` : '';
    const sign =
      advantageChanges.signChanged.length > 0
        ? `, ${wholeNumber(advantageChanges.signChanged.length)} flip sign${unpushedNote}`
        : '';
    const inLossText = outside!.length > 0 ? `, ${wholeNumber(inLoss!.length)} of them in the loss` : '';
    const allText = wholeNumber(advantageChanges.changedTokens.length);
    lossNumbers.push(
      inLoss!.length === 0
        ? `no trained token changes (${allText} advantages outside the loss do${sign})`
        : `${allText} advantages change${inLossText}${sign}`,
    );
  }
  if (names.some((name) => CLIP_KNOBS.includes(name)) && 'meansBefore' in previewResult) {
    const { words, tokens } = clipWords(previewResult, was);
    const lossText = lossNumbers.length > 0 ? `${lossNumbers.join('; ')}. ` : '';
    return { sentence: `${lossText}${words}`, tokens };
  }
  const pushes = compareTokens(was, preview, pushAt);
  const pushTexts = [
    ...(pushes.stronger > 0 ? [`${wholeNumber(pushes.stronger)} stronger`] : []),
    ...(pushes.weaker > 0 ? [`${wholeNumber(pushes.weaker)} weaker`] : []),
    ...(pushes.signChanged.length > 0 ? [`${wholeNumber(pushes.signChanged.length)} reversed`] : []),
  ];
  const outsideOnly = advantageChanges.changedTokens.length > 0 && inLoss!.length === 0;
  if (pushes.changedTokens.length > 0) lossNumbers.push(`pushes: ${pushTexts.join(', ')}`);
  else if (!outsideOnly) lossNumbers.push('no push changes');
  if (lossNumbers.length === 1 && pushes.changedTokens.length === 0 && !outsideOnly)
    return { sentence: 'nothing changes in this batch.', tokens: [] };
  return {
    sentence: `${lossNumbers.join('; ')}.`,
    tokens: advantageChanges.changedTokens.length > 0 ? [...inLoss!, ...outside!] : pushes.changedTokens,
  };
}

const isInLoss = (was: BatchView, would: BatchView, i: number) => was.lossMask[i] !== 0 || would.lossMask[i] !== 0;

/**
 * Describes which tokens a changed clip no longer clips or newly clips, and how many tokens are clipped in each epoch.
 * For the last epoch, the Update screen has the same number.
 */
function clipWords({ batch: preview, meansBefore: a, meansAfter: b }: BatchPreview, was: BatchView) {
  const { epochs, tokenCount, unclipped, newlyClipped } = clipChange(was, preview);
  const changeTexts = [
    ...(unclipped.length > 0 ? [`${counted(unclipped.length, 'token')} no longer clipped`] : []),
    ...(newlyClipped.length > 0 ? [`${counted(newlyClipped.length, 'token')} newly clipped`] : []),
  ];
  const changeCount = epochs.reduce(
    (sum, { clippedBefore, clippedInPreview }) => sum + Math.abs(clippedBefore - clippedInPreview),
    0,
  );
  const countNote =
    changeCount > unclipped.length + newlyClipped.length ? ' (each counted once, however many epochs clip it)' : '';
  const clipped = epochs
    .map(
      ({ epoch, clippedBefore, clippedInPreview }) =>
        `${wholeNumber(clippedBefore)} → ${wholeNumber(clippedInPreview)} in epoch ${epoch}`,
    )
    .join(', ');
  const mean = `${percentOf(a.clipFraction)} → ${percentOf(b.clipFraction)}`;
  const words = [
    `${changeTexts.length > 0 ? changeTexts.join(', ') : 'the same tokens are clipped'}${countNote}.`,
    `Clipped: ${clipped}, of ${wholeNumber(tokenCount)} with an advantage. Clip fraction, mean of all steps: ${mean}.`,
  ];
  return { words: words.join(' '), tokens: [...unclipped, ...newlyClipped].sort((x, y) => x - y) };
}

function lossChanges({ meansBefore, meansAfter }: BatchPreview, names: readonly FieldName[]): string[] {
  const all = names.flatMap((name) => LOSS_METRICS[name] ?? []);
  const distinct = all.filter(([label], i) => all.findIndex(([other]) => other === label) === i);
  return distinct.map(([label, of]) => {
    const text = (value: number) => (FRACTION_METRICS.includes(of) ? percentOf(value) : shortNumber(value));
    return `${label} ${text(meansBefore[of])} → ${text(meansAfter[of])}`;
  });
}

function percentOf(share: number): string {
  return share > 0 && share < 0.1 ? `${shortNumber(100 * share)} %` : percent(share);
}

/** Differences below this share of the largest absolute value in either batch are float32 rounding errors. */
const ROUNDING = 1e-4;

/**
 * The tokens at which a number, read by `valueOf`, differs between two batches. `changedTokens`: all of these tokens,
 * the most changed first. `signChanged`: those whose number changed its sign. `stronger`, `weaker`: how many of the
 * others have a number with a larger or a smaller absolute value.
 */
function compareTokens(a: BatchView, b: BatchView, valueOf: (batch: BatchView, i: number) => number) {
  const all = Array.from(a.roles, (_, i) => ({ i, was: valueOf(a, i), is: valueOf(b, i) }));
  const minDifference = ROUNDING * all.reduce((most, { was, is }) => Math.max(most, Math.abs(was), Math.abs(is)), 0);
  const moved = all.filter(({ was, is }) => Math.abs(is - was) > minDifference);
  moved.sort((x, y) => Math.abs(y.is - y.was) - Math.abs(x.is - x.was) || x.i - y.i);
  return {
    changedTokens: moved.map(({ i }) => i),
    signChanged: moved.filter(({ was, is }) => was * is < 0).map(({ i }) => i),
    stronger: moved.filter(({ was, is }) => was * is >= 0 && Math.abs(is) > Math.abs(was)).length,
    weaker: moved.filter(({ was, is }) => was * is >= 0 && Math.abs(is) < Math.abs(was)).length,
  };
}

interface ClippedCounts {
  readonly epoch: number; // from 1; 0: the last epoch of a batch whose epochs weren't kept
  readonly clippedBefore: number;
  readonly clippedInPreview: number;
}

/** The difference that a preview makes to clipping. Tokens are flat indexes into the batch. */
interface ClipChange {
  readonly epochs: readonly ClippedCounts[];
  readonly tokenCount: number; // number of tokens in the policy loss whose advantage isn't 0
  readonly unclipped: readonly number[]; // clipped in at least one epoch in which they would be pushed
  readonly newlyClipped: readonly number[]; // pushed in at least one epoch in which they would be clipped
}

/** Compares the clipped tokens of a batch, `was`, with those of its preview, `would`. Both have the same epochs. */
export function clipChange(was: BatchView, would: BatchView): ClipChange {
  const clippedByEpoch = (batch: BatchView) =>
    epochsOf(batch).map(({ epoch, policyWeights }) => {
      const inEpoch = { ...batch, policyWeights };
      return { epoch, clipped: Uint8Array.from(batch.roles, (_, i) => (isClipped(inEpoch, i) ? 1 : 0)) };
    });
  const [before, after] = [clippedByEpoch(was), clippedByEpoch(would)];
  const count = (clipped: Uint8Array | undefined) => clipped?.reduce((sum, each) => sum + each, 0) ?? 0;
  const clippedOnlyIn = (from: typeof before, to: typeof before) =>
    Array.from(was.roles, (_, i) => i).filter((i) =>
      from.some(({ clipped }, k) => clipped[i] === 1 && to[k]?.clipped[i] === 0),
    );
  return {
    epochs: before.map(({ epoch, clipped }, k) => ({
      epoch,
      clippedBefore: count(clipped),
      clippedInPreview: count(after[k]?.clipped),
    })),
    tokenCount: was.lossMask.reduce((sum, inLoss, i) => sum + (inLoss !== 0 && was.advantages[i] !== 0 ? 1 : 0), 0),
    ...{ unclipped: clippedOnlyIn(before, after), newlyClipped: clippedOnlyIn(after, before) },
  };
}
