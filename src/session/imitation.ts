import type { RunConfig } from '../config/fields.ts';
import { warmStartRecipe } from '../config/imitationRecipe.ts';
import type { Progress } from '../domain/progress.ts';
import type { SpokenText, DemonstratedStep } from '../domain/demonstrationText.ts';
import type { Role } from '../domain/tokens.ts';
import type { TrainingEvent } from '../domain/trainingEvent.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { Policy } from '../model/policy.ts';
import { demonstrations, imitatedSteps } from '../rl/warmStart.ts';

/** What the imitation of a run beside a checkpoint is made of. */
interface Imitation {
  readonly policy: Policy;
  readonly env: ToolEnv;
  readonly begun: RunConfig; // knobs that are turned on the way say nothing of demonstrations
  readonly progress: Progress; // written after each step
  readonly yieldToEvents: () => Promise<void>;
  readonly over: () => Promise<void>; // called before the last step is told
}

/** Whether a run beside a checkpoint is shown demonstrations before it learns by reward. */
export const isShown = ({ warmStart }: Pick<RunConfig, 'warmStart'>) => warmStart !== 'none';

/**
 * The warm start of a run beside a checkpoint as the first stage of its training, where a step takes as long as an update elsewhere: a phase before
 * each step and `imitated` after it, when the run may be paused, stepped and saved as after an update. Goes on after the step that `progress` is at.
 */
export async function* imitation(run: Imitation): AsyncGenerator<TrainingEvent, void> {
  const { policy, env, begun, progress, yieldToEvents, over } = run;
  const recipe = warmStartRecipe(begun);
  const total = recipe.steps;
  const phase = (done: number) => ({ type: 'phase', phase: 'imitating', update: 0, done, total }) as const;
  if (progress.imitated < total) yield phase(progress.imitated);
  else await over();
  const steps = imitatedSteps({ policy, env, seed: begun.seed, recipe, yieldToEvents }, progress.imitated);
  for await (const { step, loss } of steps) {
    progress.imitated = step;
    if (step === total) await over();
    yield { type: 'imitated', done: step, total, loss };
    if (step < total) yield phase(step);
  }
}

/** The demonstrations of the step that an imitation is at, as it learns from them; null where it is over. */
export function shownNow({
  policy,
  env,
  begun,
  progress,
}: Omit<Imitation, 'yieldToEvents' | 'over'>): DemonstratedStep | null {
  const { steps: total, quality, rows = policy.rows } = warmStartRecipe(begun);
  const step = progress.imitated;
  if (step >= total) return null;
  const { length } = policy;
  const record = demonstrations([{ env, quality }], { seed: begun.seed, step, rows: policy.rows, length });
  const episodes = Array.from({ length: Math.min(rows, policy.rows) }, (_, row) => {
    const said: SpokenText[] = [];
    for (let at = row * length; at < row * length + record.lengths[row]!; at++) {
      const [role, turn] = [record.roles[at] as Role, record.turns[at]!];
      const piece = (env.vocabulary[record.tokens[at]!] ?? '').replaceAll('␣', ' ').replaceAll('⏎', '\n');
      const last = said.at(-1);
      if (last?.role === role && last.turn === turn) said[said.length - 1] = { ...last, text: last.text + piece };
      else said.push({ role, turn, text: piece });
    }
    return said;
  });
  return { step: step + 1, total, episodes };
}
