import type { FieldName, RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { GhostView, ObjectiveMeans } from '../../domain/ghost.ts';
import { knobText, percent, short, whole } from '../parts/format.ts';
import { pushAt } from '../rollout/push.ts';
import { clipChange } from './clipHeld.ts';

/** Numbers of the loss that a knob's change is told by, beside what it does to advantages and pushes. */
const TOLD: Readonly<Partial<Record<FieldName, readonly (readonly [label: string, of: keyof ObjectiveMeans])[]>>> = {
  dualClip: [['held by the dual clip, mean over the steps', 'clipFractionLower']],
  entropyCoef: [['loss', 'total']],
  klCoef: [['KL', 'kl']],
  klEstimator: [['KL', 'kl']],
  valueCoef: [['loss', 'total']],
  valueClip: [['value loss', 'valueLoss']],
  aggregation: [['policy loss', 'policyLoss']],
};
const SHARES: readonly (keyof ObjectiveMeans)[] = ['clipFraction', 'clipFractionLower'];
const CLIPS: readonly FieldName[] = ['surrogate', 'clipLow', 'clipHigh', 'dualClip'];

/** What is tried on a batch. */
export interface Trial {
  readonly batch: BatchView;
  readonly config: RunConfig; // the batch was made under
  readonly changes: Partial<RunConfig>;
  readonly ghost: GhostView | Pick<GhostView, 'batch' | 'before'>;
}

/** What turned knobs change on a batch. */
export interface Compared {
  readonly said: string; // in words: numbers of the loss, the clip, advantages, and how many pushes
  readonly tokens: readonly number[]; // flat indexes of the tokens it changes; the clip's in their order, else the most changed first
}

/** What a trial changes on its batch. */
export function compared({ batch, config, changes, ghost: view }: Trial): Compared {
  const { batch: ghost } = view;
  const names = Object.keys(changes) as FieldName[];
  const told = 'was' in view ? losses(view, names) : []; // a recording holds no loss of it
  const was: BatchView = { ...batch, ...view.before };
  const credit = changed(was, ghost, (each, i) => each.advantages[i] ?? 0);
  // those in the loss first: of others, as the tool's words, an advantage pushes nothing
  const [inLoss, outside] = [true, false].map((want) => credit.moved.filter((i) => isInLoss(was, ghost, i) === want));
  if (credit.moved.length > 0) {
    // where the clip holds a token before or after, nothing is turned round
    const still = credit.turned.filter((i) => isInLoss(was, ghost, i) && (pushAt(was, i) === 0 || pushAt(ghost, i) === 0)); // prettier-ignore
    const held = still.length > 0 ? ` (${whole(still.length)} without a push, before or after)` : '';
    const sign = credit.turned.length > 0 ? `, ${whole(credit.turned.length)} in sign${held}` : '';
    const apart = outside!.length > 0 ? `, ${whole(inLoss!.length)} of them of tokens in the loss` : '';
    told.push(`${whole(credit.moved.length)} advantages change${apart}${sign}`);
  }
  const clips = names.filter((name) => CLIPS.includes(name));
  if (clips.length > 0 && 'was' in view) {
    const [only] = names.length === 1 ? clips : [];
    const values = only ? [`with ${knobText(config[only])}`, `with ${knobText(changes[only] ?? '')}`] : ['', ''];
    const { words, tokens } = clipWords(view, was, values as [string, string]);
    const rest = told.length > 0 ? `${told.join('; ')}. ` : '';
    return { said: `${rest}${words}`, tokens };
  }
  const pushes = changed(was, ghost, pushAt);
  const ways = [
    ...(pushes.stronger > 0 ? [`${whole(pushes.stronger)} stronger`] : []),
    ...(pushes.weaker > 0 ? [`${whole(pushes.weaker)} weaker`] : []),
    ...(pushes.turned.length > 0 ? [`${whole(pushes.turned.length)} turned round`] : []),
  ];
  told.push(pushes.moved.length === 0 ? 'no push changes' : `pushes: ${ways.join(', ')}`);
  if (told.length === 1 && pushes.moved.length === 0) return { said: 'nothing changes on this batch.', tokens: [] };
  return { said: `${told.join('; ')}.`, tokens: credit.moved.length > 0 ? [...inLoss!, ...outside!] : pushes.moved };
}

const isInLoss = (was: BatchView, would: BatchView, i: number) => was.lossMask[i] !== 0 || would.lossMask[i] !== 0;

/** Which tokens would be clipped or no longer clipped, and how many in each epoch. The last epoch is counted as in Update's map. */
function clipWords({ batch: ghost, was: a, would: b }: GhostView, was: BatchView, [from, to]: [string, string]) {
  const { passes, of, freed, caught } = clipChange(was, ghost);
  const many = (tokens: readonly number[]) => `${whole(tokens.length)} ${tokens.length === 1 ? 'token' : 'tokens'}`;
  const parted = [
    ...(freed.length > 0 ? [`${many(freed)} clipped ${from || 'before'}, no longer ${to || 'now'}.`] : []),
    ...(caught.length > 0 ? [`${many(caught)} newly clipped ${to || 'now'}.`] : []),
  ];
  const turns = passes.reduce((sum, { was, would }) => sum + Math.abs(was - would), 0);
  if (turns > freed.length + caught.length) parted.push('A token counts once, even if several epochs clip it.');
  const held = passes.map(({ pass, was, would }) => `${whole(was)} → ${whole(would)} in epoch ${pass}`).join(', ');
  const mean = `${percentOf(a.clipFraction)} → ${percentOf(b.clipFraction)}`;
  const words = [
    ...(parted.length > 0 ? parted : ['The same tokens are clipped.']),
    `Clipped: ${held}, of ${whole(of)} with an advantage. Clip fraction, mean of all steps: ${mean}.`,
  ];
  return { words: words.join(' '), tokens: [...freed, ...caught].sort((x, y) => x - y) };
}

function losses({ was, would }: GhostView, names: readonly FieldName[]): string[] {
  const all = names.flatMap((name) => TOLD[name] ?? []);
  const told = all.filter(([label], i) => all.findIndex(([other]) => other === label) === i);
  return told.map(([label, of]) => {
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
