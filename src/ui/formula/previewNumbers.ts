import type { FieldName, RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { BatchPreview, ObjectiveMeans } from '../../domain/batchPreview.ts';
import { counted, percent, short, whole } from '../parts/numberText.ts';
import { pushAt, passesOf } from '../rollout/push.ts';
import { isClipped } from '../rollout/channels.ts';

/**
 * The numbers of the loss that a preview reports for a changed knob, in addition to changes of advantages and pushes.
 */
const LOSS_NUMBERS: Readonly<
  Partial<Record<FieldName, readonly (readonly [label: string, of: keyof ObjectiveMeans])[]>>
> = {
  dualClip: [['dual-clip fraction, mean over the steps', 'clipFractionLower']],
  entropyCoef: [['loss', 'total']],
  klCoef: [['KL', 'kl']],
  klEstimator: [['KL', 'kl']],
  valueCoef: [['loss', 'total']],
  valueClip: [['value loss', 'valueLoss']],
  aggregation: [['policy loss', 'policyLoss']],
};
const SHARES: readonly (keyof ObjectiveMeans)[] = ['clipFraction', 'clipFractionLower'];
const CLIPS: readonly FieldName[] = ['surrogate', 'clipLow', 'clipHigh', 'dualClip'];

/** A batch, the changed knobs of its preview, and the preview itself. */
export interface PreviewedBatch {
  readonly batch: BatchView;
  readonly changes: Partial<RunConfig>;
  readonly preview: BatchPreview | Pick<BatchPreview, 'batch' | 'before'>;
}

/** The summary of a preview. */
export interface PreviewNumbers {
  readonly sentence: string; // the changes of the loss, of clipping, advantages and pushes, in words
  /** Flat indexes of the changed tokens: in text order for changes of clipping, otherwise the most changed first. */
  readonly tokens: readonly number[];
}

/**
 * The numbers of a preview: how changed knobs would have changed the loss, the clip, the advantages and the pushes of
 * its batch.
 */
export function previewNumbers({ batch, changes, preview: view }: PreviewedBatch): PreviewNumbers {
  const { batch: preview } = view;
  const names = Object.keys(changes) as FieldName[];
  const lossNumbers = 'was' in view ? lossChanges(view, names) : []; // a recorded preview has no losses
  const was: BatchView = { ...batch, ...view.before };
  const credit = changed(was, preview, (each, i) => each.advantages[i] ?? 0);
  // tokens in the loss come first; the advantage of other tokens, such as the tool's words, pushes nothing
  const [inLoss, outside] = [true, false].map((want) => credit.moved.filter((i) => isInLoss(was, preview, i) === want));
  if (credit.moved.length > 0) {
    // if a token is clipped before or after the change, its push isn't reversed, although its advantage changes sign
    const unpushed = credit.turned.filter((i) => isInLoss(was, preview, i) && (pushAt(was, i) === 0 || pushAt(preview, i) === 0)); // prettier-ignore
    const unpushedNote = unpushed.length > 0 ? ` (${whole(unpushed.length)} without a push before or after)` : '';
    const sign = credit.turned.length > 0 ? `, ${whole(credit.turned.length)} flip sign${unpushedNote}` : '';
    const apart = outside!.length > 0 ? `, ${whole(inLoss!.length)} of them in the loss` : '';
    const all = whole(credit.moved.length);
    lossNumbers.push(
      inLoss!.length === 0
        ? `no trained token changes (${all} advantages outside the loss do${sign})`
        : `${all} advantages change${apart}${sign}`,
    );
  }
  if (names.some((name) => CLIPS.includes(name)) && 'was' in view) {
    const { words, tokens } = clipWords(view, was);
    const rest = lossNumbers.length > 0 ? `${lossNumbers.join('; ')}. ` : '';
    return { sentence: `${rest}${words}`, tokens };
  }
  const pushes = changed(was, preview, pushAt);
  const ways = [
    ...(pushes.stronger > 0 ? [`${whole(pushes.stronger)} stronger`] : []),
    ...(pushes.weaker > 0 ? [`${whole(pushes.weaker)} weaker`] : []),
    ...(pushes.turned.length > 0 ? [`${whole(pushes.turned.length)} reversed`] : []),
  ];
  const outsideOnly = credit.moved.length > 0 && inLoss!.length === 0;
  if (pushes.moved.length > 0) lossNumbers.push(`pushes: ${ways.join(', ')}`);
  else if (!outsideOnly) lossNumbers.push('no push changes');
  if (lossNumbers.length === 1 && pushes.moved.length === 0 && !outsideOnly)
    return { sentence: 'nothing changes in this batch.', tokens: [] };
  return {
    sentence: `${lossNumbers.join('; ')}.`,
    tokens: credit.moved.length > 0 ? [...inLoss!, ...outside!] : pushes.moved,
  };
}

const isInLoss = (was: BatchView, would: BatchView, i: number) => was.lossMask[i] !== 0 || would.lossMask[i] !== 0;

/**
 * Describes which tokens a changed clip no longer clips or newly clips, and how many tokens are clipped in each epoch.
 * For the last epoch, the Update screen has the same number.
 */
function clipWords({ batch: preview, was: a, would: b }: BatchPreview, was: BatchView) {
  const { passes, of, freed, caught } = clipChange(was, preview);
  const changeTexts = [
    ...(freed.length > 0 ? [`${counted(freed.length, 'token')} no longer clipped`] : []),
    ...(caught.length > 0 ? [`${counted(caught.length, 'token')} newly clipped`] : []),
  ];
  const turns = passes.reduce((sum, { was, would }) => sum + Math.abs(was - would), 0);
  const countNote = turns > freed.length + caught.length ? ' (each counted once, however many epochs clip it)' : '';
  const clipped = passes.map(({ pass, was, would }) => `${whole(was)} → ${whole(would)} in epoch ${pass}`).join(', ');
  const mean = `${percentOf(a.clipFraction)} → ${percentOf(b.clipFraction)}`;
  const words = [
    `${changeTexts.length > 0 ? changeTexts.join(', ') : 'the same tokens are clipped'}${countNote}.`,
    `Clipped: ${clipped}, of ${whole(of)} with an advantage. Clip fraction, mean of all steps: ${mean}.`,
  ];
  return { words: words.join(' '), tokens: [...freed, ...caught].sort((x, y) => x - y) };
}

function lossChanges({ was, would }: BatchPreview, names: readonly FieldName[]): string[] {
  const all = names.flatMap((name) => LOSS_NUMBERS[name] ?? []);
  const distinct = all.filter(([label], i) => all.findIndex(([other]) => other === label) === i);
  return distinct.map(([label, of]) => {
    const text = (value: number) => (SHARES.includes(of) ? percentOf(value) : short(value));
    return `${label} ${text(was[of])} → ${text(would[of])}`;
  });
}

function percentOf(share: number): string {
  return share > 0 && share < 0.1 ? `${short(100 * share)} %` : percent(share);
}

/** Smaller differences are float32 rounding errors. It is relative to the largest absolute value in either batch. */
const ROUNDING = 1e-4;

/**
 * The tokens at which a number, read by `of`, differs between two batches. `moved`: all of them, the most changed
 * first. `turned`: those with a changed sign. `stronger`, `weaker`: how many of the others grew or shrank.
 */
function changed(a: BatchView, b: BatchView, of: (batch: BatchView, i: number) => number) {
  const all = Array.from(a.roles, (_, i) => ({ i, was: of(a, i), is: of(b, i) }));
  const least = ROUNDING * all.reduce((most, { was, is }) => Math.max(most, Math.abs(was), Math.abs(is)), 0);
  const moved = all.filter(({ was, is }) => Math.abs(is - was) > least);
  moved.sort((x, y) => Math.abs(y.is - y.was) - Math.abs(x.is - x.was) || x.i - y.i);
  return {
    moved: moved.map(({ i }) => i),
    turned: moved.filter(({ was, is }) => was * is < 0).map(({ i }) => i),
    stronger: moved.filter(({ was, is }) => was * is >= 0 && Math.abs(is) > Math.abs(was)).length,
    weaker: moved.filter(({ was, is }) => was * is >= 0 && Math.abs(is) < Math.abs(was)).length,
  };
}

/** Numbers of clipped tokens in one epoch. */
interface ClippedInEpoch {
  readonly pass: number; // from 1; 0: the last epoch of a batch whose epochs weren't kept
  readonly was: number; // tokens that were clipped
  readonly would: number; // tokens that would be clipped in the preview
}

/** The difference that a preview makes to clipping. Tokens are flat indexes into the batch. */
interface ClipChange {
  readonly passes: readonly ClippedInEpoch[];
  readonly of: number; // number of tokens in the policy loss whose advantage isn't 0
  readonly freed: readonly number[]; // clipped in at least one epoch in which they would be pushed
  readonly caught: readonly number[]; // pushed in at least one epoch in which they would be clipped
}

/** Compares the clipped tokens of a batch, `was`, with those of its preview, `would`. Both have the same epochs. */
export function clipChange(was: BatchView, would: BatchView): ClipChange {
  const clippedByEpoch = (batch: BatchView) =>
    passesOf(batch).map(({ pass, policyWeights }) => {
      const inEpoch = { ...batch, policyWeights };
      return { pass, clipped: Uint8Array.from(batch.roles, (_, i) => (isClipped(inEpoch, i) ? 1 : 0)) };
    });
  const [before, after] = [clippedByEpoch(was), clippedByEpoch(would)];
  const count = (clipped: Uint8Array | undefined) => clipped?.reduce((sum, each) => sum + each, 0) ?? 0;
  const released = (from: typeof before, to: typeof before) =>
    Array.from(was.roles, (_, i) => i).filter((i) =>
      from.some(({ clipped }, k) => clipped[i] === 1 && to[k]?.clipped[i] === 0),
    );
  return {
    passes: before.map(({ pass, clipped }, k) => ({ pass, was: count(clipped), would: count(after[k]?.clipped) })),
    of: was.lossMask.reduce((sum, inLoss, i) => sum + (inLoss !== 0 && was.advantages[i] !== 0 ? 1 : 0), 0),
    ...{ freed: released(before, after), caught: released(after, before) },
  };
}
