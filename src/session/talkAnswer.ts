import type { AskedTask, AskForm } from '../domain/taskForm.ts';
import type { AskedOwn, Asking, ToolEnv } from '../envs/env.ts';
import { branch } from '../rl/branch.ts';
import type { Answer, Question } from '../wire/questions.ts';
import type { Readers } from './readers.ts';

type Talk = Extract<Question, { kind: 'talk' }>;

/** The form in which a person writes a task, without the function that begins it. */
export function formOf({ doc, blanks, example }: Asking): AskForm {
  return { doc, blanks, example };
}

/**
 * Lets the agent play a task that a person chose, with the run's knobs except for the sampling, and with the weights
 * that the run began with or its current ones. The rollout is kept like a branch: questions about it can be answered,
 * and nothing learns from it. Throws ProblemError if the words aren't a task.
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
  const played = await branch(reader, by.env, config, {
    seed,
    environmentSeed,
    begin,
    script,
    temperature,
    greedy,
    take,
    yieldToEvents: () => by.yieldToEvents(),
  });
  const id = by.history.noteBranch(played, config);
  return { kind: 'talk', said: played, config, vocabulary: by.env.vocabulary, id, judged };
}

function askedOf(env: ToolEnv, asked: AskedTask): AskedOwn {
  if ('seed' in asked) return { begin: env.reset, judged: true };
  if (!env.asking) {
    throw new Error(`Tasks of ${env.name} can’t be written in words. Choose one by number.`);
  }
  return env.asking.ask(asked.words);
}
