import type { RunConfig } from '../config/fields.ts';
import type { WarmStartRecipe } from '../config/environments.ts';
import {
  canGrow,
  choosesSteps,
  imitationOf,
  type ShorterImitation,
  warmStartRecipe,
} from '../config/imitationRecipe.ts';
import type { Progress } from '../domain/progress.ts';
import type { DemonstratedStep } from '../domain/demonstrationText.ts';
import { kindsOf, turnsOf } from '../domain/tokenSpans.ts';
import { type Role, withBlanks, writingOf } from '../domain/tokens.ts';
import type { TrainingEvent } from '../domain/trainingEvent.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { Policy } from '../model/policy.ts';
import { tryTasks } from '../rl/evaluate.ts';
import { continueWarmStart, demonstrations, warmStart } from '../rl/warmStart.ts';
import { differentBatches, mostSteps, planAfter, triesAfter } from './imitationPlan.ts';

const MAX_SHOWN = 8; // demonstrations of a step

/** The parts of the imitation stage of a run. */
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
    { policy, env, seed, recipe, yieldToEvents },
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

/** The demonstrations of a step of the run's imitation. */
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
  for await (const done of warmStart({ policy, env, seed, recipe: () => recipe, yieldToEvents })) {
    onEvent({ type: 'phase', phase: 'imitating', update: 0, done, total: recipe.steps });
  }
}

/** Some of the demonstrations that the current step of imitation learns from; null after the last step. */
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
