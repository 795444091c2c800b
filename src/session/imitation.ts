import type { RunConfig } from '../config/fields.ts';
import { warmStartRecipe } from '../config/imitationRecipe.ts';
import type { Progress } from '../domain/progress.ts';
import type { SpokenText, DemonstratedStep } from '../domain/demonstrationText.ts';
import type { Role } from '../domain/tokens.ts';
import type { TrainingEvent } from '../domain/trainingEvent.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { Policy } from '../model/policy.ts';
import { demonstrations, continueWarmStart } from '../rl/warmStart.ts';

/** The parts of the imitation stage of a run that trains adapters. */
interface Imitation {
  readonly policy: Policy;
  readonly env: ToolEnv;
  readonly startConfig: RunConfig; // the knobs at the start; later changes don't affect demonstrations
  readonly progress: Progress; // updated after each step
  readonly yieldToEvents: () => Promise<void>;
  readonly onImitated: () => Promise<void>; // called before the event of the last step, or at once if all are done
}

/** Whether a run that trains adapters imitates demonstrations before RL. */
export const imitatesFirst = ({ warmStart }: Pick<RunConfig, 'warmStart'>) => warmStart !== 'none';

/**
 * The warm start of a run that trains adapters, as the first stage of its training, because each step takes as long as
 * an update. Yields a phase before each step and `imitated` after it. Between steps the run can be paused, stepped and
 * saved, as between updates. Continues after the step in `progress`.
 */
export async function* imitation(run: Imitation): AsyncGenerator<TrainingEvent, void> {
  const { policy, env, startConfig, progress, yieldToEvents, onImitated } = run;
  const recipe = warmStartRecipe(startConfig);
  const total = recipe.steps;
  const phase = (done: number) => ({ type: 'phase', phase: 'imitating', update: 0, done, total }) as const;
  if (progress.imitated < total) yield phase(progress.imitated);
  else await onImitated();
  const steps = continueWarmStart({ policy, env, seed: startConfig.seed, recipe, yieldToEvents }, progress.imitated);
  for await (const { step, loss } of steps) {
    progress.imitated = step;
    if (step === total) await onImitated();
    yield { type: 'imitated', done: step, total, loss };
    if (step < total) yield phase(step);
  }
}

/** The demonstrations that the current step of imitation learns from; null after the last step. */
export function currentDemonstrations({
  policy,
  env,
  startConfig,
  progress,
}: Omit<Imitation, 'yieldToEvents' | 'onImitated'>): DemonstratedStep | null {
  const { steps: total, quality, rows = policy.rows } = warmStartRecipe(startConfig);
  const step = progress.imitated;
  if (step >= total) return null;
  const { length } = policy;
  const record = demonstrations([{ env, quality }], { seed: startConfig.seed, step, rows: policy.rows, length });
  const episodes = Array.from({ length: Math.min(rows, policy.rows) }, (_, row) => {
    const texts: SpokenText[] = [];
    for (let at = row * length; at < row * length + record.lengths[row]!; at++) {
      const [role, turn] = [record.roles[at] as Role, record.turns[at]!];
      const piece = (env.vocabulary[record.tokens[at]!] ?? '').replaceAll('␣', ' ').replaceAll('⏎', '\n');
      const last = texts.at(-1);
      if (last?.role === role && last.turn === turn) texts[texts.length - 1] = { ...last, text: last.text + piece };
      else texts.push({ role, turn, text: piece });
    }
    return texts;
  });
  return { step: step + 1, total, episodes };
}
