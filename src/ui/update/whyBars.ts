import type { RunConfig } from '../../config/fields.ts';
import type { Why } from '../../domain/readings.ts';
import { counted } from '../parts/countText.ts';

/** One cause of a change, as a bar. */
export interface Bar {
  readonly key: string;
  readonly row: number | null; // the rollout it stands for; null: no single one
  readonly label: string;
  readonly hint: string;
  readonly part: number; // nats
}

const MOST_ROLLOUTS = 7;

/**
 * The parts of a change, the largest rollouts first, then all other rollouts in one, then what is no rollout; together they are
 * the measured change. Parts that a run does not have are left out; momentum and the residual never are.
 */
export function whyBars(why: Why, nameOf: (row: number) => string): readonly Bar[] {
  const rows = [...why.rollouts.keys()].filter((row) => why.rollouts[row] !== 0);
  const partOf = (row: number) => why.rollouts[row] ?? 0;
  rows.sort((a, b) => Math.abs(partOf(b)) - Math.abs(partOf(a)));
  // one that is left over is shown as itself
  const shown = rows.length === MOST_ROLLOUTS + 1 ? rows : rows.slice(0, MOST_ROLLOUTS);
  const rest = rows.slice(shown.length);
  const bars = shown.map((row): Bar => {
    const hint = 'The policy loss of this rollout’s tokens.';
    return { key: `row ${row}`, row, label: nameOf(row), hint, part: partOf(row) };
  });
  const add = (key: string, label: string, hint: string, part: number, always = false) => {
    if (always || part !== 0) bars.push({ key, row: null, label, hint, part });
  };
  const others = rest.reduce((sum, row) => sum + partOf(row), 0);
  add('others', `${rest.length} other rollouts`, 'Their policy loss, summed.', others, rest.length > 0);
  add('elsewhere', 'rollouts of other tasks', 'Their policy loss; they are not in the recording.', why.elsewhere ?? 0);
  const together = why.together ?? 0;
  const several = why.steps === 1 ? '' : ', with Adam’s momentum and weight decay';
  add('together', 'all its gradients', `All rollouts and terms of this update together${several}.`, together);
  if (why.together === undefined || why.steps === 1)
    add('momentum', 'momentum', 'Adam’s momentum from earlier updates.', why.momentum, true);
  add('kl', 'KL', 'The KL term, towards the reference policy.', why.kl);
  add('entropy', 'entropy', 'The entropy bonus.', why.entropy);
  add('value', 'critic', 'The value loss, through the shared trunk.', why.value);
  add('decay', 'weight decay', 'The pull of every weight towards 0.', why.decay);
  add('residual', 'residual', 'Curvature: the part that no first-order term explains.', why.residual, true);
  return bars;
}

/** The first-order prediction without the rollouts in `left`; without the residual, which is no prediction. */
export function predicted({ before, after, residual, rollouts }: Why, left: ReadonlySet<number>): number {
  return [...left].reduce((sum, row) => sum - (rollouts[row] ?? 0), after - before - residual);
}

/** An update's optimizer steps as epochs × minibatches. A token's own term, its push, acts in one step of each epoch. */
export function stepsInWords(
  steps: number,
  { epochs, minibatches }: Pick<RunConfig, 'epochs' | 'minibatches'>,
): string {
  const words = counted(steps, 'optimizer step');
  if (steps === 1 || steps !== epochs * minibatches) return words;
  const parts = `${counted(epochs, 'epoch', 'epochs')} × ${counted(minibatches, 'minibatch', 'minibatches')}`;
  return `${words} (${parts}; this token’s own push acts once in each epoch)`;
}
