import type { FieldName } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { GhostView, ObjectiveMeans } from '../../domain/ghost.ts';
import { percent, short, whole } from '../parts/format.ts';
import { pushAt } from '../rollout/push.ts';

/** Numbers of the loss that a knob's change is told by, beside what it does to advantages and pushes. */
const TOLD: Readonly<Partial<Record<FieldName, readonly (readonly [label: string, of: keyof ObjectiveMeans])[]>>> = {
  surrogate: [['clipped', 'clipFraction']],
  clipLow: [['clipped', 'clipFraction']],
  clipHigh: [['clipped', 'clipFraction']],
  dualClip: [['held by the dual clip', 'clipFractionLower']],
  entropyCoef: [['loss', 'total']],
  klCoef: [['KL', 'kl']],
  klEstimator: [['KL', 'kl']],
  valueCoef: [['loss', 'total']],
  valueClip: [['value loss', 'valueLoss']],
  aggregation: [['policy loss', 'policyLoss']],
};
const SHARES: readonly (keyof ObjectiveMeans)[] = ['clipFraction', 'clipFractionLower'];

/** What a turned knob changes on a batch, in words: numbers of the loss, advantages, and how many pushes. */
export function compared(batch: BatchView, view: GhostView | Pick<GhostView, 'batch'>, knob: FieldName): string {
  const { batch: ghost } = view;
  const told = 'was' in view ? losses(view, knob) : []; // a recording holds no loss of it
  const credit = changes(batch, ghost, (each, i) => each.advantages[i] ?? 0);
  if (credit.moved > 0) {
    told.push(
      `${whole(credit.moved)} advantages change${credit.turned > 0 ? `, ${whole(credit.turned)} in sign` : ''}`,
    );
  }
  const first = firstOnly(batch, ghost);
  const pushes = changes(first, ghost, pushAt);
  const ways = [
    ...(pushes.stronger > 0 ? [`${whole(pushes.stronger)} stronger`] : []),
    ...(pushes.weaker > 0 ? [`${whole(pushes.weaker)} weaker`] : []),
    ...(pushes.turned > 0 ? [`${whole(pushes.turned)} turned round`] : []),
  ];
  told.push(pushes.moved === 0 ? 'no push changes' : `pushes: ${ways.join(', ')}`);
  if (told.length === 1 && pushes.moved === 0) return 'nothing changes on this batch.';
  return `${told.join('; ')}.`;
}

function losses({ was, would }: GhostView, knob: FieldName): string[] {
  return (TOLD[knob] ?? []).map(([label, of]) => {
    const text = (value: number) => (SHARES.includes(of) ? percentOf(value) : short(value));
    return `${label} ${text(was[of])} → ${text(would[of])}`;
  });
}

function percentOf(share: number): string {
  return share > 0 && share < 0.01 ? `${short(100 * share)} %` : percent(share);
}

/** The batch over as many passes as a ghost has. */
function firstOnly(batch: BatchView, ghost: BatchView): BatchView {
  const [first] = batch.passes ?? [];
  return (ghost.passes?.length ?? 0) <= 1 && first ? { ...batch, passes: [first] } : batch;
}

/** Of the largest size of a batch: what is less is float32 rounding on the way to the page. */
const ROUNDING = 1e-4;

/** At how many tokens a number of two batches differs, and how. */
function changes(a: BatchView, b: BatchView, of: (batch: BatchView, i: number) => number) {
  const all = Array.from(a.roles, (_, i) => [of(a, i), of(b, i)] as const);
  const least = ROUNDING * all.reduce((most, [was, is]) => Math.max(most, Math.abs(was), Math.abs(is)), 0);
  const moved = all.filter(([was, is]) => Math.abs(is - was) > least);
  return {
    moved: moved.length,
    turned: moved.filter(([was, is]) => was * is < 0).length,
    stronger: moved.filter(([was, is]) => was * is >= 0 && Math.abs(is) > Math.abs(was)).length,
    weaker: moved.filter(([was, is]) => was * is >= 0 && Math.abs(is) < Math.abs(was)).length,
  };
}
