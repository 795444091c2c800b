import { distribution, logprobs } from '../analysis/readings.ts';
import { rerun } from '../analysis/replay.ts';
import { whyMoved } from '../analysis/why.ts';
import { recordOf } from '../domain/batch.ts';
import { Role } from '../domain/tokens.ts';
import { tensorsHash, type Weights } from '../model/architecture.ts';
import { branch } from '../rl/branch.ts';
import { ghostBatch } from '../rl/ghost.ts';
import type { Answer, Question } from '../wire/questions.ts';
import type { KeptRollout, Readers } from './readers.ts';
import { formOf, talk } from './talk.ts';

type Kind = Question['kind'];
/** How each kind of question is answered. */
type Answering = {
  readonly [K in Kind]: (
    by: Readers,
    question: Extract<Question, { kind: K }>,
  ) => Promise<Extract<Answer, { kind: K }>> | Extract<Answer, { kind: K }>;
};

/**
 * Answers a question about kept rollouts. One question at a time: wait for the answer before the next. Throws when a rollout is
 * not kept, or a branch's token is not legal.
 */
export async function answer<K extends Kind>(
  by: Readers,
  question: Extract<Question, { kind: K }>,
): Promise<Extract<Answer, { kind: K }>> {
  const kind: K = question.kind;
  return ANSWERING[kind](by, question);
}

const ANSWERING: Answering = {
  checksum: async ({ policy }) => {
    const state = await policy.readState();
    return { kind: 'checksum', checksum: tensorsHash(policy.parameters, state.policy.weights) };
  },
  batch: ({ history }, { update }) => ({ kind: 'batch', kept: history.batch(update) ?? null }),
  distribution: async (by, { of, position, since }) => {
    const { batch, config, row } = by.rollout(of);
    const state = batch.states[row * batch.length + position] ?? 0;
    const ask = (weights: Weights) => {
      const reader = by.reading(weights, config);
      reader.load(recordOf(batch, row, position));
      return distribution(reader, by.grammar(config), state, position - 1, config.temperature);
    };
    const now = ask(await by.current());
    if (since === 'begun') return { kind: 'distribution', before: ask(by.begun), after: now, now };
    return { kind: 'distribution', ...(await by.around(batch.update, ask)), now };
  },
  logprobs: async (by, { update, row }) => {
    const { batch, config } = by.batch(update);
    const record = row === null ? batch : recordOf(batch, row);
    const ask = (weights: Weights) => logprobs(by.reading(weights, config), record, config.temperature);
    return { kind: 'logprobs', ...(await by.around(update, ask)) };
  },
  why: async (by, { update, ...token }) => {
    const kept = by.batch(update);
    const [before, after] = [by.history.state(update - 1), by.history.state(update)?.weights];
    const lesson = by.history.lesson(update);
    if (!before || !after || !lesson) return { kind: 'why', why: null };
    const reading = (weights: Weights) => by.reading(weights, kept.config);
    const whole = { ...kept, before, after, lesson };
    return { kind: 'why', why: await whyMoved(reading, by.replaying(kept.config), whole, token) };
  },
  rerun: async (by, { update }) => {
    const { config } = by.batch(update);
    const ask = (weights: Weights) => rerun(by.replaying(config), by.env, config, { update, weights });
    return { kind: 'rerun', ...(await by.around(update, ask)) };
  },
  attention: (by, { update, row, position }) => {
    const { batch, config } = by.batch(update);
    const weights = by.history.state(update - 1)?.weights;
    if (!weights) return { kind: 'attention', attention: null };
    const reader = by.reading(weights, config);
    reader.load(recordOf(batch, row));
    return { kind: 'attention', attention: reader.attention(0, position) };
  },
  ghost: (by, { update, flipped }) => {
    const { batch, config } = by.batch(update);
    const lesson = by.history.lesson(update);
    return { kind: 'ghost', ghost: lesson ? ghostBatch(batch, config, lesson, flipped) : null };
  },
  branch: async (by, { of, position, token, temperature, take }) => {
    const rollout = by.rollout(of);
    const { batch, config, row } = rollout;
    const { seed, luck } = batch.episodes.find((episode) => episode.row === row) ?? { seed: 0, luck: 0 };
    const script = [...actionsBefore(rollout, position), token];
    const reader = by.reading(await by.current(), config);
    const played = await branch(reader, by.env, config, { seed, luck, script, temperature, take });
    return { kind: 'branch', branch: played, id: by.history.noteBranch(played, config) };
  },
  'ask-form': ({ env: { asking } }) => ({ kind: 'ask-form', form: asking ? formOf(asking) : null }),
  talk,
};

/** The agent's own tokens before a position. */
function actionsBefore({ batch, row }: KeptRollout, position: number): number[] {
  const from = row * batch.length;
  return [...batch.tokens.subarray(from, from + position)].filter((_, t) => batch.roles[from + t] === Role.action);
}
