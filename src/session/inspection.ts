import { tokenLogprobs, recordedLogprobs } from '../analysis/tokenDistribution.ts';
import { rerun } from '../analysis/replay.ts';
import { explainChange } from '../analysis/why.ts';
import { type BatchView, recordedRow } from '../domain/batch.ts';
import { Role } from '../domain/tokens.ts';
import { tensorsHash, type Weights } from '../model/architecture.ts';
import { branch } from '../rl/branch.ts';
import type { Answer, Question } from '../wire/questions.ts';
import { previewAnswer } from './previewAnswer.ts';
import type { KeptRollout, Readers } from './readers.ts';
import { formOf, talk } from './talkAnswer.ts';

type Kind = Question['kind'];
type Answered<K extends Kind> = Extract<Answer, { kind: K | 'dear' }>;
/** The functions that answer each kind of question. */
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
      if (since === 'begun') return { kind: 'distribution', before: await ask(by.initialWeights()), after: now, now };
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
    const cost = byRollout ? null : await by.highCost(batchCost, entry.batch.rows);
    const rowPolicy = (weights: Weights) => by.rowPolicy(weights, entry.config);
    const batchReplay = cost ? null : () => by.batchReplay(entry.config);
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
  branch: async (by, { rollout: address, position, token, temperature, drawIndex }) => {
    const rollout = by.rollout(address);
    const { batch, config, row } = rollout;
    const { seed, environmentSeed } = batch.episodes.find((episode) => episode.row === row) ?? {
      seed: 0,
      environmentSeed: 0,
    };
    const agentPrefix = [...actionsBefore(rollout, position), token];
    const reader = await by.rowPolicy(await by.currentWeights(), config);
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

/**
 * Cost of explaining one token, in forward passes over its row: forward and backward before the update, and forward
 * before and after it.
 */
const READING_PASSES = 5;
/**
 * Cost of repeating an optimizer step, in forward passes over the batch: forward and backward, and both again for each
 * rollout alone.
 */
const LEARNING_PASSES = 7;
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
