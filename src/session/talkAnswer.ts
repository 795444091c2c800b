import type { ChosenTask, AskForm } from '../domain/taskForm.ts';
import type { PosedTask, TaskForm, ToolEnv } from '../envs/env.ts';
import { branch } from '../rl/branch.ts';
import type { Answer, Question } from '../wire/questions.ts';
import type { Readers } from './readers.ts';

type Talk = Extract<Question, { kind: 'talk' }>;

/** The form in which a person writes a task, without the function that begins it. */
export function formOf({ doc, blanks, example }: TaskForm): AskForm {
  return { doc, blanks, example };
}

/**
 * Lets the agent play a task that a person chose, with the run's knobs except for the sampling, and with the weights
 * that the run began with or its current ones. The rollout is kept like a branch: questions about it can be answered,
 * and nothing learns from it. Throws ProblemError if the words aren't a task.
 */
export async function talk(
  by: Readers,
  { chosenTask, environmentSeed, agentPrefix, voice, sampling, drawIndex }: Talk,
): Promise<Extract<Answer, { kind: 'talk' }>> {
  const { temperature, topK, topP, greedy } = sampling;
  const config = { ...by.config(), temperature, topK, topP };
  const { reset: begin, answerKnown: judged } = askedOf(by.env, chosenTask);
  const reader = await by.rowPolicy(voice === 'begun' ? by.initialWeights() : await by.currentWeights(), config);
  const seed = 'seed' in chosenTask ? chosenTask.seed : environmentSeed;
  const played = await branch(reader, by.env, config, {
    seed,
    environmentSeed,
    begin,
    agentPrefix,
    temperature,
    greedy,
    drawIndex,
    yieldToEvents: () => by.yieldToEvents(),
  });
  const id = by.history.keepBranch(played, config);
  return { kind: 'talk', batch: played, config, vocabulary: by.env.vocabulary, id, judged };
}

function askedOf(env: ToolEnv, chosenTask: ChosenTask): PosedTask {
  if ('seed' in chosenTask) return { reset: env.reset, answerKnown: true };
  if (!env.taskForm) {
    throw new Error(`Tasks of ${env.name} can’t be written in words. Choose one by number.`);
  }
  return env.taskForm.makeTask(chosenTask.words);
}
