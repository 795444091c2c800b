import { distribution, logprobs } from '../analysis/readings.ts';
import { openReplay, rerun, type Replay } from '../analysis/replay.ts';
import { whyMoved } from '../analysis/why.ts';
import type { RunConfig } from '../config/config.ts';
import { type KeptBatch, recordOf } from '../domain/batch.ts';
import type { Why } from '../domain/readings.ts';
import { Role } from '../domain/tokens.ts';
import type { ToolEnv } from '../envs/env.ts';
import { weightsHash, type Weights } from '../model/architecture.ts';
import { createCpuPolicy, type CpuPolicy } from '../model/cpu/policy.ts';
import type { Policy } from '../model/policy.ts';
import { branch } from '../rl/branch.ts';
import { ghostBatch } from '../rl/ghost.ts';
import { learningMath } from '../rl/learningMath.ts';
import type { Answer, Question, RolloutAddress } from '../wire/questions.ts';
import type { RunHistory } from './history.ts';

/** Answers questions about kept rollouts. */
export interface Inspection {
  /** One question at a time: wait for the answer before the next. Throws when a rollout is not kept, or a branch's token is not legal. */
  readonly answer: (question: Question) => Promise<Answer>;
  readonly dispose: () => void;
}

/**
 * Answers from the history of a run, on a policy of one row of its own, on the CPU whatever the run computes on: it gets copies of the
 * run's weights, so the run's batch, caches, moments and draws are out of its reach. The CPU and GPU policies agree to float32 rounding.
 */
export function openInspection(policy: Policy, env: ToolEnv, seed: number, history: RunHistory): Inspection {
  let reader: CpuPolicy | null = null;
  let replay: Replay | null = null;

  const current = async () => history.newestWeights() ?? (await policy.readState()).policy.weights;
  const reading = (weights: Weights, config: RunConfig): CpuPolicy => {
    reader ??= createCpuPolicy(
      {
        model: policy.model,
        critic: policy.model.value_head ? 'shared' : 'none',
        rows: 1,
        length: policy.length,
        minibatchRows: 1,
      },
      learningMath,
      { precision: 'f32', seed, reason: '' },
    );
    reader.writeWeights(weights);
    reader.setGrammar(env.grammar(config.grammar === 'on'));
    return reader;
  };
  /** What two sets of weights say, one after the other: they share the reader. */
  const aroundOf = async <T>(update: number, ask: (weights: Weights) => T | Promise<T>) => {
    const [before, after] = [history.state(update - 1)?.weights, history.state(update)?.weights];
    return { before: before ? await ask(before) : null, after: after ? await ask(after) : null };
  };
  const replaying = (config: RunConfig): Replay => {
    replay ??= openReplay(policy, seed);
    replay.policy.setGrammar(env.grammar(config.grammar === 'on'));
    return replay;
  };

  const batchOf = (update: number): KeptBatch => {
    const kept = history.batch(update);
    if (!kept) throw new Error(`The rollouts of update ${update} are not kept any more.`);
    return kept;
  };
  const rolloutAt = (of: RolloutAddress): KeptBatch & { readonly row: number } => {
    if ('update' in of) return { ...batchOf(of.update), row: of.row };
    const kept = history.branch(of.branch);
    if (!kept) throw new Error('This branch is not kept any more. Play it anew.');
    return { ...kept, row: 0 };
  };
  const why = async (update: number, row: number, position: number): Promise<Why | null> => {
    const kept = batchOf(update);
    const [before, after] = [history.state(update - 1), history.state(update)?.weights];
    const lesson = history.lesson(update);
    if (!before || !after || !lesson) return null;
    const whole = { ...kept, before, after, lesson };
    return whyMoved((w) => reading(w, kept.config), replaying(kept.config), whole, { row, position });
  };

  return {
    async answer(question): Promise<Answer> {
      switch (question.kind) {
        case 'checksum':
          return { kind: 'checksum', checksum: weightsHash(policy.model, (await policy.readState()).policy.weights) };
        case 'batch':
          return { kind: 'batch', kept: history.batch(question.update) ?? null };
        case 'distribution': {
          const { batch, config, row } = rolloutAt(question.of);
          const { position } = question;
          const state = batch.states[row * batch.length + position] ?? 0;
          const ask = (weights: Weights) => {
            const by = reading(weights, config);
            by.load(recordOf(batch, row, position));
            return distribution(by, env.grammar(config.grammar === 'on'), state, position - 1, config.temperature);
          };
          return { kind: 'distribution', ...(await aroundOf(batch.update, ask)), now: ask(await current()) };
        }
        case 'logprobs': {
          const { batch, config } = batchOf(question.update);
          const record = question.row === null ? batch : recordOf(batch, question.row);
          const ask = (weights: Weights) => logprobs(reading(weights, config), record, config.temperature);
          return { kind: 'logprobs', ...(await aroundOf(question.update, ask)) };
        }
        case 'why':
          return { kind: 'why', why: await why(question.update, question.row, question.position) };
        case 'rerun': {
          const { update } = question;
          const { config } = batchOf(update);
          const ask = (weights: Weights) => rerun(replaying(config), env, config, { update, weights });
          return { kind: 'rerun', ...(await aroundOf(update, ask)) };
        }
        case 'attention': {
          const { batch, config } = batchOf(question.update);
          const weights = history.state(question.update - 1)?.weights;
          if (!weights) return { kind: 'attention', attention: null };
          const by = reading(weights, config);
          by.load(recordOf(batch, question.row));
          return { kind: 'attention', attention: by.attention(0, question.position) };
        }
        case 'ghost': {
          const { batch, config } = batchOf(question.update);
          const lesson = history.lesson(question.update);
          return { kind: 'ghost', ghost: lesson ? ghostBatch(batch, config, lesson, question.flipped) : null };
        }
        case 'branch': {
          const { batch, config, row } = rolloutAt(question.of);
          const { position, token, temperature, take } = question;
          const { seed, luck } = batch.episodes.find((episode) => episode.row === row) ?? { seed: 0, luck: 0 };
          const script = [...actionsBefore({ batch, row }, position), token];
          const asked = { seed, luck, script, temperature, take };
          const played = await branch(reading(await current(), config), env, config, asked);
          return { kind: 'branch', branch: played, id: history.noteBranch(played, config) };
        }
      }
    },
    dispose: () => {
      reader?.destroy();
      replay?.policy.destroy();
    },
  };
}

/** The agent's own tokens before a position. */
function actionsBefore(
  { batch, row }: Pick<KeptBatch, 'batch'> & { readonly row: number },
  position: number,
): number[] {
  const from = row * batch.length;
  return [...batch.tokens.subarray(from, from + position)].filter((_, t) => batch.roles[from + t] === Role.action);
}
