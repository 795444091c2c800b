import type { FieldName, RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { BatchPreview, ObjectiveMeans } from '../../domain/batchPreview.ts';
import { counted, percent, short, whole } from '../parts/numberText.ts';
import { pushAt, passesOf } from '../rollout/push.ts';
import { isClipped } from '../rollout/channels.ts';

/** Numbers of the loss that a knob's change is told by, beside what it does to advantages and pushes. */
const TOLD: Readonly<Partial<Record<FieldName, readonly (readonly [label: string, of: keyof ObjectiveMeans])[]>>> = {
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

/** A batch, the knobs that are changed for its preview, and the batch under them. */
export interface PreviewedBatch {
  readonly batch: BatchView;
  readonly changes: Partial<RunConfig>;
  readonly preview: BatchPreview | Pick<BatchPreview, 'batch' | 'before'>;
}

/** How changed knobs would have changed a batch. */
export interface PreviewNumbers {
  readonly sentence: string; // in words: numbers of the loss, the clip, advantages, and how many pushes
  readonly tokens: readonly number[]; // flat indexes of the tokens it changes; the clip's in their order, else the most changed first
}

/** The numbers of a preview: how changed knobs would have changed the loss, the clip, the advantages and the pushes of its batch. */
export function previewNumbers({ batch, changes, preview: view }: PreviewedBatch): PreviewNumbers {
  const { batch: preview } = view;
  const names = Object.keys(changes) as FieldName[];
  const lossNumbers = 'was' in view ? losses(view, names) : []; // a recording holds no loss of it
  const was: BatchView = { ...batch, ...view.before };
  const credit = changed(was, preview, (each, i) => each.advantages[i] ?? 0);
  // those in the loss first: of others, as the tool's words, an advantage pushes nothing
  const [inLoss, outside] = [true, false].map((want) => credit.moved.filter((i) => isInLoss(was, preview, i) === want));
  if (credit.moved.length > 0) {
    // where the clip holds a token before or after, nothing is turned round
    const still = credit.turned.filter((i) => isInLoss(was, preview, i) && (pushAt(was, i) === 0 || pushAt(preview, i) === 0)); // prettier-ignore
    const withoutPush = still.length > 0 ? ` (${whole(still.length)} without a push before or after)` : '';
    const sign = credit.turned.length > 0 ? `, ${whole(credit.turned.length)} flip sign${withoutPush}` : '';
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

/** Which tokens a changed clip no longer stops or newly stops, and how many each epoch clips; the last epoch as under Update. */
function clipWords({ batch: preview, was: a, would: b }: BatchPreview, was: BatchView) {
  const { passes, of, freed, caught } = clipChange(was, preview);
  const parted = [
    ...(freed.length > 0 ? [`${counted(freed.length, 'token')} no longer clipped`] : []),
    ...(caught.length > 0 ? [`${counted(caught.length, 'token')} newly clipped`] : []),
  ];
  const turns = passes.reduce((sum, { was, would }) => sum + Math.abs(was - would), 0);
  const once = turns > freed.length + caught.length ? ' (each counted once, however many epochs clip it)' : '';
  const clipped = passes.map(({ pass, was, would }) => `${whole(was)} → ${whole(would)} in epoch ${pass}`).join(', ');
  const mean = `${percentOf(a.clipFraction)} → ${percentOf(b.clipFraction)}`;
  const words = [
    `${parted.length > 0 ? parted.join(', ') : 'the same tokens are clipped'}${once}.`,
    `Clipped: ${clipped}, of ${whole(of)} with an advantage. Clip fraction, mean of all steps: ${mean}.`,
  ];
  return { words: words.join(' '), tokens: [...freed, ...caught].sort((x, y) => x - y) };
}

function losses({ was, would }: BatchPreview, names: readonly FieldName[]): string[] {
  const all = names.flatMap((name) => TOLD[name] ?? []);
  const distinct = all.filter(([label], i) => all.findIndex(([other]) => other === label) === i);
  return distinct.map(([label, of]) => {
    const text = (value: number) => (SHARES.includes(of) ? percentOf(value) : short(value));
    return `${label} ${text(was[of])} → ${text(would[of])}`;
  });
}

function percentOf(share: number): string {
  return share > 0 && share < 0.1 ? `${short(100 * share)} %` : percent(share);
}

/** Of the largest size of a batch: what is less is float32 rounding on the way to the page. */
const ROUNDING = 1e-4;

/** At which tokens a number of two batches differs, the most changed first, and how. */
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

/** How many tokens the clip stopped in one epoch over a batch, and how many it would stop. */
interface HeldInPass {
  readonly pass: number; // from 1; 0: the last epoch of a batch that kept none
  readonly was: number; // tokens
  readonly would: number;
}

/** Which tokens a previewed clip range would push that were clipped, and the reverse. Tokens are flat indexes into the batch. */
interface ClipChange {
  readonly passes: readonly HeldInPass[];
  readonly of: number; // tokens in the policy loss with an advantage
  readonly freed: readonly number[]; // clipped in at least one epoch in which they would be pushed
  readonly caught: readonly number[]; // pushed in at least one epoch in which they would be clipped
}

/** Compares the clipped tokens of a batch, `was`, with those of its preview, `would`. Both have the same epochs. */
export function clipChange(was: BatchView, would: BatchView): ClipChange {
  const heldIn = (batch: BatchView) =>
    passesOf(batch).map(({ pass, policyWeights }) => {
      const seen = { ...batch, policyWeights };
      return { pass, held: Uint8Array.from(batch.roles, (_, i) => (isClipped(seen, i) ? 1 : 0)) };
    });
  const [before, after] = [heldIn(was), heldIn(would)];
  const count = (held: Uint8Array | undefined) => held?.reduce((sum, each) => sum + each, 0) ?? 0;
  const turned = (from: typeof before, to: typeof before) =>
    Array.from(was.roles, (_, i) => i).filter((i) => from.some(({ held }, k) => held[i] === 1 && to[k]?.held[i] === 0));
  return {
    passes: before.map(({ pass, held }, k) => ({ pass, was: count(held), would: count(after[k]?.held) })),
    of: was.lossMask.reduce((sum, inLoss, i) => sum + (inLoss !== 0 && was.advantages[i] !== 0 ? 1 : 0), 0),
    ...{ freed: turned(before, after), caught: turned(after, before) },
  };
}
