import type { AskedTask, AskForm } from '../domain/taskForm.ts';
import type { AskedOwn, Asking, ToolEnv } from '../envs/env.ts';
import { branch } from '../rl/branch.ts';
import type { Answer, Question } from '../wire/questions.ts';
import type { Readers } from './readers.ts';

type Talk = Extract<Question, { kind: 'talk' }>;

/** How a person words a task, without what begins it. */
export function formOf({ doc, blanks, example }: Asking): AskForm {
  return { doc, blanks, example };
}

/**
 * Has the agent play a task that a person asked, under the run's knobs but for the sampling, by the weights the run began with or
 * those it has. It is kept as a branch is: it can be asked about, and nothing learns from it. Throws ProblemError on what cannot be asked.
 */
export async function talk(
  by: Readers,
  { asked, environmentSeed, script, voice, sampling, take }: Talk,
): Promise<Extract<Answer, { kind: 'talk' }>> {
  const { temperature, topK, topP, greedy } = sampling;
  const config = { ...by.config(), temperature, topK, topP };
  const { begin, judged } = askedOf(by.env, asked);
  const reader = await by.reading(voice === 'begun' ? by.begun : await by.current(), config);
  const seed = 'seed' in asked ? asked.seed : environmentSeed;
  const said = await branch(reader, by.env, config, {
    seed,
    environmentSeed,
    begin,
    script,
    temperature,
    greedy,
    take,
    yieldToEvents: () => by.yieldToEvents(),
  });
  const id = by.history.noteBranch(said, config);
  return { kind: 'talk', said, config, vocabulary: by.env.vocabulary, id, judged };
}

function askedOf(env: ToolEnv, asked: AskedTask): AskedOwn {
  if ('seed' in asked) return { begin: env.reset, judged: true };
  if (!env.asking) {
    throw new Error(`Tasks of ${env.name} can’t be written in words. Choose one by number.`);
  }
  return env.asking.ask(asked.words);
}
