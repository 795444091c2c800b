import { PLATEAU } from '../config/environments.ts';
import type { Progress } from '../domain/progress.ts';
import type { Policy } from '../model/policy.ts';

/** Steps between two tries, after the first few. */
const TRY_EVERY = 40;
/** Fewer steps are never chosen: the first tries say little. */
const MIN_STEPS = 120;
/** Share of the expert's solved tasks that two tries in a row have to reach before imitation ends. */
const ENOUGH = 0.9;
/** The same at the end of the first model's time. With less, imitation starts again with a larger model. */
const NEARLY_ENOUGH = 0.7;
/** Estimated seconds on one core for imitating with the first model, if a larger one may follow, and with the last. */
const IMITATION_SECONDS = { first: 90, last: 180 } as const;

// What one core of a laptop needs. Only an estimate, but the same on every machine.
const FLOPS = 2e10; // in a second
const FLOPS_PER_WEIGHT = 6; // forward and backward, for each token
const DEMONSTRATION_SECONDS = 5e-4; // without the class's own work
const WORK_SECONDS = 1.7e-7; // a call or a loop turn of the class's code

/** Estimated seconds for demonstrations. If they don't suffice for `MANY_BATCHES`, the demonstrations repeat. */
const DEMONSTRATING_SECONDS = 45;
const [FEW_BATCHES, MANY_BATCHES] = [32, 256];

/** Whether the agent plays tasks by itself after this step: after 10 and 20 steps, then every 40. */
export const triesAfter = (step: number): boolean => step === 10 || step === 20 || step % TRY_EVERY === 0;

/** The demonstrations of a step: how many, and the work of one if it was counted. */
interface Batch {
  readonly rows: number;
  readonly work?: number | undefined;
}

const batchSeconds = ({ rows, work = 0 }: Batch) => rows * (DEMONSTRATION_SECONDS + work * WORK_SECONDS);

/**
 * The number of different batches of demonstrations, after which they repeat. Infinity, so that each step has new ones,
 * unless the expert takes long, such as one that searches.
 */
export function differentBatches(batch: Batch): number {
  const batches = Math.max(FEW_BATCHES, Math.floor(DEMONSTRATING_SECONDS / batchSeconds(batch)));
  return batches >= MANY_BATCHES ? Infinity : batches;
}

/**
 * The largest number of steps in the time limit. The time is an estimate from the counted work, so the number is the
 * same on every machine.
 */
export function mostSteps(
  { parameters, length }: Pick<Policy, 'parameters' | 'length'>,
  { mayGrow, ...batch }: Batch & { readonly mayGrow: boolean },
): number {
  const weights = parameters.reduce((sum, { size }) => sum + size, 0);
  const learnSeconds = (batch.rows * length * weights * FLOPS_PER_WEIGHT) / FLOPS;
  const seconds = IMITATION_SECONDS[mayGrow ? 'first' : 'last'];
  const batches = differentBatches(batch);
  const steps =
    batches === Infinity
      ? seconds / (learnSeconds + batchSeconds(batch))
      : (seconds - batches * batchSeconds(batch)) / learnSeconds;
  return Math.max(MIN_STEPS, Math.floor(steps));
}

/** How imitation goes on: as it is, to its end after a number of steps, or from its start with a larger model. */
export type ImitationPlan = 'on' | 'larger' | { readonly steps: number };

/**
 * Decides how imitation goes on after the tries up to now, of which `tries` has the last two. The learning rate falls
 * during the last fifth of the steps, so they end a quarter later than they are enough. `most` is the number of steps in
 * the time limit.
 */
export function planAfter(
  tries: Progress['tries'],
  { most, mayGrow }: { readonly most: number; readonly mayGrow: boolean },
): ImitationPlan {
  const [before, last] = tries.slice(-2);
  if (!before || !last || last.step < MIN_STEPS) return 'on';
  const solve = (share: number) =>
    last.expert > 0 && [before, last].every(({ solved, expert }) => solved >= share * expert);
  const end = { steps: Math.round(last.step / PLATEAU) };
  // without an expert there is no success to reach, and the form of a call is learned by now
  if (last.expert === 0 || solve(ENOUGH)) return end;
  if (last.step + TRY_EVERY <= PLATEAU * most) return 'on';
  return mayGrow && !solve(NEARLY_ENOUGH) ? 'larger' : end;
}
