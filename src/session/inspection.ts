import { tokenLogprobs, recordedLogprobs } from '../analysis/tokenDistribution.ts';
import { rerun, type Replay } from '../analysis/replay.ts';
import { explainChange } from '../analysis/why.ts';
import { type BatchView, recordedRow, isMeasured, type KeptBatch } from '../domain/batch.ts';
import { Role } from '../domain/tokens.ts';
import { tensorsHash, type Weights } from '../model/architecture.ts';
import { branch } from '../rl/branch.ts';
import { countSolved } from '../rl/evaluate.ts';
import type { Answer, Question } from '../wire/questions.ts';
import type { KeptRollout, Readers } from './readers.ts';
import type { ChosenTask, AskForm } from '../domain/taskForm.ts';
import type { PosedTask, TaskForm, ToolEnv } from '../envs/env.ts';
import type { RunConfig } from '../config/config.ts';
import { usesCritic } from '../config/estimators.ts';
import { previewBatch, type StepOutputs } from '../rl/previewBatch.ts';
import type { NetworkState } from '../model/policy.ts';
import { creditOf, type Lesson } from '../rl/lesson.ts';
import { loadBatch } from '../analysis/attribution.ts';
import { spreadBucket, spreadGradients } from '../analysis/spreadGradients.ts';

/** No effect at the first optimizer step: the policy is still the one before the update, so ratios are 1 and values unchanged. */
const LATER_KNOBS = ['surrogate', 'clipLow', 'clipHigh', 'dualClip', 'valueClip'] as const;

/**
 * A kept batch as its update would have treated it with other values of some knobs; null if the update's record isn't
 * kept. For LATER_KNOBS, a copy of the policy repeats the update, to get its log-probabilities at each step. If the
 * changed knobs need numbers that the update didn't measure, they are computed now from the same weights. Throws an
 * error with the reason if that isn't possible.
 */
async function previewAnswer(
  by: Readers,
  { update, changes }: Extract<Question, { kind: 'preview' }>,
): Promise<Extract<Answer, { kind: 'preview' }>> {
  const { batch, config } = by.batch(update);
  const lesson = by.history.lesson(update);
  if (!lesson) return { kind: 'preview', preview: null };
  if (changes.groupSize !== undefined && changes.groupSize > config.groupSize) {
    throw new Error(
      `Group size ${changes.groupSize} can’t be previewed: this batch has ${config.groupSize} rollouts per task. Try a smaller number.`,
    );
  }
  if (
    changes.teacherCoef !== undefined ||
    (config.teacher !== 'none' && LATER_KNOBS.some((name) => changes[name] !== undefined))
  )
    throw new Error(
      'No preview: the teacher’s distributions aren’t kept, so its part of the update can’t be repeated.',
    );
  const complete = await withMeasurements(by, { batch, config }, { ...config, ...changes });
  const needsRepeat = LATER_KNOBS.some((name) => changes[name] !== undefined);
  const hasSeparateCritic = config.critic === 'separate';
  if (hasSeparateCritic && changes.valueClip !== undefined) {
    throw new Error(
      'No preview: the value clip acts from the second epoch on, and the values of a separate critic there are not kept.',
    );
  }
  const allSteps = needsRepeat ? await stepOutputsOf(by, { batch, config }) : null;
  const stepOutputs = hasSeparateCritic
    ? (allSteps?.map((step) => ({ ...step, values: batch.values })) ?? null)
    : allSteps;
  return { kind: 'preview', preview: previewBatch({ batch: complete, config, lesson }, changes, stepOutputs) };
}

/** The batch, completed with the numbers that the changed configuration needs. */
async function withMeasurements(by: Readers, { batch, config }: KeptBatch, changed: RunConfig): Promise<BatchView> {
  if (usesCritic(changed.estimator) && !isMeasured({ batch, config }, 'values')) {
    throw new Error(`${changed.estimator} needs a critic’s values, and this batch was trained without a critic.`);
  }
  const needsReference = changed.klCoef !== 0 || changed.klRewardCoef !== 0;
  if (!needsReference || isMeasured({ batch, config }, 'refLogprobs')) return batch;
  const refLogprobs = await by.batchLogprobs(by.referenceWeights(), { batch, config });
  return { ...batch, refLogprobs };
}

// a dragged slider asks about the same update many times
const cache = new WeakMap<BatchView, readonly StepOutputs[] | null>();

/** Cached for each batch; null as in `stepLogprobs`. Throws if the update can't be repeated. */
async function stepOutputsOf(by: Readers, { batch, config }: KeptBatch): Promise<readonly StepOutputs[] | null> {
  const cached = cache.get(batch);
  if (cached !== undefined) return cached;
  if (by.adaptedPolicies) {
    throw new Error(
      'No preview: this knob acts from the second optimizer step on. Repeating the update with a checkpoint would take minutes.',
    );
  }
  const before = by.history.state(batch.update - 1);
  const lesson = by.history.lesson(batch.update);
  if (!before || !lesson) throw new Error('The weights before this update are no longer kept.');
  const stepOutputs = await stepLogprobs(await by.batchReplay(config), batch, lesson, before);
  cache.set(batch, stepOutputs);
  return stepOutputs;
}

/**
 * Log-probability, entropy and value of each token at each optimizer step of an update. The replay repeats the update
 * from the state `before`; this overwrites its weights and moments. Null if the update trained only the critic: then
 * the policy's numbers are the same at every step as before the update.
 */
async function stepLogprobs(
  { policy, math }: Replay,
  batch: BatchView,
  lesson: Lesson,
  before: NetworkState,
): Promise<readonly StepOutputs[] | null> {
  if (lesson.steps.some(({ optimizer }) => optimizer.criticOnly)) return null;
  policy.writeState({ policy: before, critic: null });
  loadBatch({ policy, math }, batch, creditOf(batch, lesson.credit));
  math.setTerm();
  const stepOutputs: StepOutputs[] = [];
  for (const { rows, objective, optimizer, temperature } of lesson.steps) {
    await policy.learn(rows, objective, optimizer, temperature);
    await policy.report(); // reading the report empties the list of steps
    stepOutputs.push(math.stepOutputs());
  }
  return stepOutputs;
}

type Kind = Question['kind'];
type Answered<K extends Kind> = Extract<Answer, { kind: K | 'dear' }>;
type Answering = {
  readonly [K in Kind]: (by: Readers, question: Extract<Question, { kind: K }>) => Promise<Answered<K>> | Answered<K>;
};

/**
 * Answers a question about kept rollouts. Wait for the answer before you ask the next question. Throws if a rollout
 * isn't kept or a branch's token isn't legal. If an answer would be expensive and the question doesn't say `anyway`,
 * returns only its cost.
 */
export async function answer<K extends Kind>(
  by: Readers,
  question: Extract<Question, { kind: K }>,
): Promise<Answered<K>> {
  const kind: K = question.kind;
  return ANSWERING[kind](by, question);
}

const ANSWERING: Answering = {
  checksum: async ({ policy }) => {
    const state = await policy.readState();
    return { kind: 'checksum', checksum: tensorsHash(policy.parameters, state.policy.weights) };
  },
  batch: ({ history }, { update }) => ({ kind: 'batch', kept: history.batch(update) ?? null }),
  distribution: async (by, { rollout: address, position, since, anyway = false }) => {
    const { batch, config, row } = by.rollout(address);
    const state = batch.states[row * batch.length + position] ?? 0;
    const ask = async (weights: Weights) => {
      const reader = await by.rowPolicy(weights, config);
      reader.load(recordedRow(batch, row, position));
      return tokenLogprobs(reader, by.grammar(config), state, position, config.temperature);
    };
    return unlessExpensive(by, { tokens: 3 * position, rows: 1, anyway }, async () => {
      const current = await by.currentWeights();
      const now = await ask(current);
      if (since) {
        const earlier = since === 'begun' ? by.initialWeights() : by.fitting(since);
        return { kind: 'distribution', before: await ask(earlier), after: now, now };
      }
      const known = (weights: Weights) => (weights === current ? now : ask(weights));
      return { kind: 'distribution', ...(await by.beforeAndAfter(batch.update, known)), now };
    });
  },
  logprobs: async (by, { update, row, anyway = false }) => {
    const entry = by.batch(update);
    const { batch, config } = entry;
    if (row === null) {
      const job = { tokens: 2 * tokensOf(batch), rows: batch.rows, anyway };
      const score = (weights: Weights) => by.batchLogprobs(weights, entry);
      return unlessExpensive(by, job, async () => ({ kind: 'logprobs', ...(await by.beforeAndAfter(update, score)) }));
    }
    const record = recordedRow(batch, row);
    const ask = async (weights: Weights) =>
      recordedLogprobs(await by.rowPolicy(weights, config), record, config.temperature);
    const job = { tokens: 2 * (batch.lengths[row] ?? 0), rows: 1, anyway };
    return unlessExpensive(by, job, async () => ({ kind: 'logprobs', ...(await by.beforeAndAfter(update, ask)) }));
  },
  why: async (by, { update, anyway = false, byRollout = false, ...token }) => {
    const entry = by.batch(update);
    const [before, after] = [by.history.state(update - 1), by.history.state(update)];
    const lesson = by.history.lesson(update);
    if (!before || !after || !lesson) return { kind: 'why', why: null, splitCost: null };
    const keptUpdate = { ...entry, before, after, lesson };
    const rowCost = READING_PASSES * (entry.batch.lengths[token.row] ?? 0);
    const batchCost = LEARNING_PASSES * lesson.steps.length * tokensOf(entry.batch);
    const isTaught = entry.config.teacher !== 'none';
    const cost = byRollout || isTaught ? null : await by.highCost(batchCost, entry.batch.rows);
    const rowPolicy = (weights: Weights) => by.rowPolicy(weights, entry.config);
    // a replay knows no teacher, so its part can't be told from those of rollouts
    const batchReplay = cost || isTaught ? null : () => by.batchReplay(entry.config);
    const job = cost
      ? { tokens: rowCost, rows: 1, anyway }
      : { tokens: rowCost + batchCost, rows: entry.batch.rows, anyway: true };
    return unlessExpensive(by, job, async () => {
      return { kind: 'why', why: await explainChange({ rowPolicy, batchReplay }, keptUpdate, token), splitCost: cost };
    });
  },
  rerun: async (by, { update, anyway = false }) => {
    const { batch, config } = by.batch(update);
    const ask = async (weights: Weights) => rerun(await by.batchReplay(config), by.env, config, { update, weights });
    const job = { tokens: DRAWING_PASSES * 2 * tokensOf(batch), rows: batch.rows, anyway };
    return unlessExpensive(by, job, async () => ({ kind: 'rerun', ...(await by.beforeAndAfter(update, ask)) }));
  },
  'spread-gradients': async (by, { update, anyway = false }) => {
    const { batch, config } = by.batch(update);
    const lesson = by.history.lesson(update);
    const weights = by.history.state(update - 1)?.weights;
    if (!weights || !lesson) return { kind: 'spread-gradients', buckets: null };
    const job = { tokens: TERM_PASSES * tokensOf(batch), rows: batch.rows, anyway };
    return unlessExpensive(by, job, async () => {
      const firstEpoch = lesson.steps.slice(0, lesson.steps.length / config.epochs); // goes over all rows
      const steps = firstEpoch.filter(({ optimizer }) => !optimizer.criticOnly);
      const taught = { steps, credit: creditOf(batch, lesson.credit) };
      const buckets = await spreadGradients(await by.batchReplay(config), batch, taught, weights);
      return { kind: 'spread-gradients', buckets: buckets.map(spreadBucket) };
    });
  },
  tries: async (by, { tasks, tries, anyway = false }) => {
    const config = by.config();
    const job = { tokens: DRAWING_PASSES * tasks * tries * by.policy.length, rows: by.policy.rows, anyway };
    return unlessExpensive(by, job, async () => {
      const { policy } = await by.batchReplay(config);
      policy.writeWeights(by.referenceWeights());
      const solved = await countSolved(policy, by.env, config, { tasks, tries }, () => by.yieldToEvents());
      return { kind: 'tries', solved, tries };
    });
  },
  attention: async (by, { update, row, position, anyway = false }) => {
    const { batch, config } = by.batch(update);
    const weights = by.history.state(update - 1)?.weights;
    if (!weights) return { kind: 'attention', attention: null };
    return unlessExpensive(by, { tokens: position, rows: 1, anyway }, async () => {
      const reader = await by.rowPolicy(weights, config);
      reader.load(recordedRow(batch, row));
      return { kind: 'attention', attention: await reader.attention(0, position) };
    });
  },
  preview: previewAnswer,
  branch: async (by, { rollout: address, position, token, weights, temperature, drawIndex }) => {
    const rollout = by.rollout(address);
    const { batch, config, row } = rollout;
    const { seed, environmentSeed } = batch.episodes.find((episode) => episode.row === row) ?? {
      seed: 0,
      environmentSeed: 0,
    };
    const agentPrefix = [...actionsBefore(rollout, position), ...(token === null ? [] : [token])];
    const reader = await by.rowPolicy(weights ? by.fitting(weights) : await by.currentWeights(), config);
    const played = await branch(reader, by.env, config, {
      seed,
      environmentSeed,
      agentPrefix,
      temperature,
      drawIndex,
      yieldToEvents: () => by.yieldToEvents(),
    });
    return { kind: 'branch', branch: played, id: by.history.keepBranch(played, config) };
  },
  demonstrations: ({ demonstrations }) => ({ kind: 'demonstrations', shown: demonstrations() }),
  'ask-form': ({ env: { taskForm: asking } }) => ({ kind: 'ask-form', form: asking ? formOf(asking) : null }),
  talk,
};

/** Explaining a token takes, in forward passes over its row: forward and backward before the update, forward before and after it. */
const READING_PASSES = 5;
/** Repeating a step takes, in forward passes over the batch: forward and backward, and both again for each rollout alone. */
const LEARNING_PASSES = 7;
/** Gradients of all terms and of three terms alone take, in forward passes over the batch: forward and backward each. */
const TERM_PASSES = 12;
/** Cost of drawing a token, in forward passes over one token. */
const DRAWING_PASSES = 2;

/** Computes the answer. If it would be expensive and the question doesn't say `anyway`, returns only the cost. */
async function unlessExpensive<T>(
  by: Readers,
  { tokens, rows, anyway }: { readonly tokens: number; readonly rows: number; readonly anyway: boolean },
  answer: () => Promise<T>,
): Promise<T | Extract<Answer, { kind: 'dear' }>> {
  const cost = anyway ? null : await by.highCost(tokens, rows);
  return cost ? { kind: 'dear', cost } : by.timed(tokens, answer);
}

const tokensOf = ({ lengths }: BatchView) => lengths.reduce((sum, length) => sum + length, 0);

/** The agent's tokens before a position. */
function actionsBefore({ batch, row }: KeptRollout, position: number): number[] {
  const from = row * batch.length;
  return [...batch.tokens.subarray(from, from + position)].filter((_, t) => batch.roles[from + t] === Role.action);
}

type Talk = Extract<Question, { kind: 'talk' }>;

function formOf({ doc, blanks, example }: TaskForm): AskForm {
  return { doc, blanks, example };
}

/**
 * Lets the agent play a task that a person chose, with the run's knobs except for the sampling, and with the weights
 * that the run began with or its current ones. The rollout is kept like a branch: questions about it can be answered,
 * and nothing learns from it. Throws ProblemError if the words aren't a task.
 */
async function talk(
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
