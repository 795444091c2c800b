import type { RunConfig } from '../config/fields.ts';
import { type WarmStartRecipe, PLATEAU } from '../config/environments.ts';
import {
  canGrow,
  choosesSteps,
  imitationOf,
  type ShorterImitation,
  warmStartRecipe,
} from '../config/imitationRecipe.ts';
import type { Progress } from '../domain/progress.ts';
import type { DemonstratedStep } from '../wire/questions.ts';
import { kindsOf, turnsOf } from '../domain/tokenSpans.ts';
import { type Role, withBlanks, writingOf } from '../domain/tokens.ts';
import type { TrainingEvent } from '../domain/trainingEvent.ts';
import type { ToolEnv } from '../envs/env.ts';
import { rowsPerTurn } from '../envs/rowsPerTurn.ts';
import type { Policy } from '../model/policy.ts';
import { tryTasks } from '../rl/evaluate.ts';
import { continueWarmStart, demonstrations, warmStart } from '../rl/warmStart.ts';

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
const triesAfter = (step: number): boolean => step === 10 || step === 20 || step % TRY_EVERY === 0;

/** The demonstrations of a step: how many, and the work of one if it was counted. */
interface Batch {
  readonly rows: number;
  readonly work?: number | undefined;
}

const batchSeconds = ({ rows, work = 0 }: Batch) => rows * (DEMONSTRATION_SECONDS + work * WORK_SECONDS);

/** The number after which demonstrations repeat: Infinity, so that each step has new ones, unless the expert takes long. */
export function differentBatches(batch: Batch): number {
  const batches = Math.max(FEW_BATCHES, Math.floor(DEMONSTRATING_SECONDS / batchSeconds(batch)));
  return batches >= MANY_BATCHES ? Infinity : batches;
}

/** The number of steps in the time limit. Time is estimated from the counted work, so the number is the same on every machine. */
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
type ImitationPlan = 'on' | 'larger' | { readonly steps: number };

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

const MAX_SHOWN = 8; // demonstrations of a step

interface Imitation {
  readonly policy: Policy;
  readonly env: ToolEnv;
  /** The knobs at the start; of their changes, only those of `shorterImitation` affect imitation. */
  readonly startConfig: () => RunConfig;
  readonly progress: Progress; // updated after each step
  readonly yieldToEvents: () => Promise<void>;
  readonly onImitated: () => Promise<void>; // called before the event of the last step, or at once if all are done
  readonly triesTasks: boolean; // after some steps the agent plays tasks by itself
  /** Changes the knobs of the start. */
  readonly onChosen: (knobs: ShorterImitation) => void;
}

/**
 * The imitation of demonstrations, as the first stage of a run's training. Yields a phase before each step and
 * `imitated` after it. Between steps the run can be paused, stepped and saved, as between updates. Continues after the
 * step in `progress`. A run without a set number of steps chooses it by its tries; `imitation-changed` then has the knobs.
 * Returns “larger” if it should start again with a larger model.
 */
export async function* imitation(run: Imitation): AsyncGenerator<TrainingEvent, 'done' | 'larger'> {
  const { policy, env, startConfig, progress, yieldToEvents, onImitated, triesTasks, onChosen } = run;
  const { seed } = startConfig();
  const mayGrow = canGrow(startConfig());
  const isChoosing = () => triesTasks && choosesSteps(startConfig());
  const total = () => totalSteps(run);
  const phase = (done: number) => ({ type: 'phase', phase: 'imitating', update: 0, done, total: total() }) as const;
  if (progress.imitated < total()) yield phase(progress.imitated);
  else await onImitated();
  const recipe = () => recipeOf(run);
  for await (const { step, loss } of continueWarmStart(
    { policy, env, seed, recipe, yieldToEvents, ...rowsPerTurn(startConfig()) },
    progress.imitated,
  )) {
    progress.imitated = step;
    const isLast = step === total();
    if (isLast) await onImitated();
    const tries =
      triesTasks && !isLast && triesAfter(step) ? await tryTasks(policy, env, startConfig(), yieldToEvents) : null;
    if (tries) {
      policy.setGrammar(env.grammar(true)); // that of imitation again
      progress.tries = [...progress.tries, { step, ...tries }].slice(-2);
      const plan = isChoosing() ? planAfter(progress.tries, { most: total(), mayGrow }) : 'on';
      if (plan === 'larger') {
        yield { type: 'imitated', done: step, total: total(), loss, tries };
        return 'larger';
      }
      if (plan !== 'on') {
        const knobs = imitationOf(startConfig(), plan.steps);
        onChosen(knobs);
        yield { type: 'imitation-changed', knobs };
      }
    }
    yield { type: 'imitated', done: step, total: total(), loss, ...(tries && { tries }) };
    if (!isLast) yield phase(step);
  }
  return 'done';
}

type Demonstrating = Pick<Imitation, 'policy' | 'env' | 'startConfig'>;

function batchOf({ policy, env, startConfig }: Demonstrating) {
  const { rows = policy.rows } = warmStartRecipe(startConfig());
  return { rows: Math.min(rows, policy.rows), work: env.demonstrationWork };
}

/** The number of steps of the run's imitation; the largest possible number while the run is choosing it. */
function totalSteps(run: Demonstrating): number {
  const config = run.startConfig();
  const { steps } = warmStartRecipe(config);
  return choosesSteps(config)
    ? Math.min(steps, mostSteps(run.policy, { ...batchOf(run), mayGrow: canGrow(config) }))
    : steps;
}

/** The recipe of the run's imitation now. If the environment's expert takes long, its demonstrations repeat. */
const recipeOf = (run: Demonstrating): WarmStartRecipe => ({
  ...warmStartRecipe(run.startConfig()),
  ...(run.env.demonstrationWork !== undefined && { batches: differentBatches(batchOf(run)) }),
});

/** Runs the whole imitation of a run at once, with the policy's weights. `onEvent` gets the phases. */
export async function finishImitation(
  { policy, env, startConfig }: Pick<Imitation, 'policy' | 'env'> & { readonly startConfig: RunConfig },
  { yieldToEvents }: Pick<Imitation, 'yieldToEvents'>,
  onEvent: (event: Extract<TrainingEvent, { type: 'phase' }>) => void,
): Promise<void> {
  const recipe = recipeOf({ policy, env, startConfig: () => startConfig });
  const { seed } = startConfig;
  for await (const done of warmStart({
    ...{ policy, env, seed, yieldToEvents },
    ...rowsPerTurn(startConfig),
    recipe: () => recipe,
  })) {
    onEvent({ type: 'phase', phase: 'imitating', update: 0, done, total: recipe.steps });
  }
}

/** Some of the demonstrations that the current step of imitation learns from, as whole episodes; null after the last step. */
export function currentDemonstrations(
  run: Pick<Imitation, 'policy' | 'env' | 'startConfig' | 'progress'>,
): DemonstratedStep | null {
  const { policy, env, startConfig, progress } = run;
  const { seed } = startConfig();
  const { rows } = batchOf(run);
  const { quality, batches } = recipeOf(run);
  const total = totalSteps(run);
  const step = progress.imitated;
  if (step >= total) return null;
  const { length } = policy;
  const writing = writingOf(env.vocabulary);
  const shownRows = Math.min(rows, MAX_SHOWN);
  const batch = { seed, step: step % (batches ?? Infinity), rows: policy.rows, length };
  const record = demonstrations([{ env, quality }], batch, shownRows);
  const episodes = Array.from({ length: shownRows }, (_, row) => {
    const [from, to] = [row * length, row * length + record.lengths[row]!];
    const [roles, turns] = [record.roles.subarray(from, to), record.turns.subarray(from, to)];
    const pieces = Array.from(record.tokens.subarray(from, to), (token) =>
      withBlanks(env.vocabulary[token] ?? '', writing),
    );
    return turnsOf(kindsOf(pieces, writing, { roles, turns }), turns).flatMap(({ turn, spans }) =>
      spans.map(({ kind, tokens }) => ({
        ...{ kind, turn, role: roles[tokens[0]!] as Role },
        text: tokens.map((t) => pieces[t]!.replaceAll('⏎', '\n')).join(writing === 'words' ? ' ' : ''),
      })),
    );
  });
  return { step: step + 1, total, episodes };
}
