import { distribution, logprobs, upTo } from '../analysis/readings.ts';
import { openReplay, rerun, type Replay } from '../analysis/replay.ts';
import { whyMoved } from '../analysis/why.ts';
import type { RunConfig } from '../config/config.ts';
import type { ToolEnv } from '../envs/env.ts';
import { weightsHash, type Weights } from '../model/architecture.ts';
import { createCpuPolicy, type CpuPolicy } from '../model/cpu/policy.ts';
import type { NetworkState, Policy } from '../model/policy.ts';
import type { Why } from '../domain/readings.ts';
import type { Answer, Question } from '../wire/questions.ts';
import { branch } from '../rl/branch.ts';
import { ghostBatch } from '../rl/ghost.ts';
import { learningMath } from '../rl/learningMath.ts';
import type { Lesson } from '../rl/lesson.ts';
import { UpdateLog } from './updateLog.ts';

/** Answers questions about kept rollouts. */
export interface Inspection {
  /** Takes down what the update under way did with its batch. */
  readonly learned: (lesson: Lesson) => void;
  /** Keeps the weights and the optimizer's moments after `update`; they must not change any more. */
  readonly keep: (update: number, state: NetworkState) => void;
  /** One question at a time: wait for the answer before the next. Throws when a branch's script is not legal. */
  readonly answer: (question: Question) => Promise<Answer>;
  readonly dispose: () => void;
}

/** What is kept of an update for those who want to do it again. */
interface Learned {
  readonly moments: Omit<NetworkState, 'weights'>; // after it
  readonly lesson: Lesson | null; // null after an evaluation only
}

const bytesOf = (...tensors: readonly Weights[]) =>
  tensors.flatMap((each) => [...each.values()]).reduce((sum, { byteLength }) => sum + byteLength, 0);

/**
 * Answers on a policy of one row of its own, on the CPU whatever the run computes on: it gets copies of the run's weights, so the
 * run's batch, caches, moments and draws are out of its reach. The CPU and GPU policies agree to float32 rounding.
 */
export function openInspection(policy: Policy, env: ToolEnv, seed: number): Inspection {
  const log = new UpdateLog<Weights>(bytesOf);
  const lessons = new UpdateLog<Learned>(({ moments }) => bytesOf(moments.adamM, moments.adamV));
  let lesson: Lesson | null = null;
  let reader: CpuPolicy | null = null;
  let replay: Replay | null = null;
  let latest = -1;

  const current = async () => log.at(latest) ?? (await policy.readState()).policy.weights;
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
  const either = <T>(update: number, ask: (weights: Weights) => T) => {
    const [before, after] = [log.at(update - 1), log.at(update)];
    return { before: before ? ask(before) : null, after: after ? ask(after) : null };
  };

  const replaying = (config: RunConfig): Replay => {
    replay ??= openReplay(policy, seed);
    replay.policy.setGrammar(env.grammar(config.grammar === 'on'));
    return replay;
  };
  const why = async (asked: Extract<Question, { kind: 'why' }>): Promise<Why | null> => {
    const { update } = asked.batch;
    const [weights, after] = [log.at(update - 1), log.at(update)];
    const moments = lessons.at(update - 1)?.moments;
    const taught = lessons.at(update)?.lesson;
    if (!weights || !after || !moments || !taught) return null;
    const kept = { before: { weights, ...moments }, after, lesson: taught };
    return whyMoved((w) => reading(w, asked.config), replaying(asked.config), kept, asked);
  };

  return {
    learned(taught) {
      lesson = taught;
    },
    keep(update, { weights, ...moments }) {
      log.keep(update, weights);
      lessons.keep(update, { moments, lesson });
      lesson = null;
      latest = update;
    },
    async answer(question): Promise<Answer> {
      switch (question.kind) {
        case 'checksum':
          return { kind: 'checksum', checksum: weightsHash(policy.model, (await policy.readState()).policy.weights) };
        case 'distribution': {
          const { config, row, position, state, update } = question;
          const ask = (weights: Weights) => {
            const by = reading(weights, config);
            by.load(upTo(row, position));
            return distribution(by, env.grammar(config.grammar === 'on'), state, position - 1, config.temperature);
          };
          return { kind: 'distribution', ...either(update, ask), now: ask(await current()) };
        }
        case 'logprobs': {
          const { config, row, update } = question;
          const ask = (weights: Weights) => logprobs(reading(weights, config), row, config.temperature);
          const { before, after } = either(update, (weights) => weights);
          // one after the other: they share the reader
          return { kind: 'logprobs', before: before && (await ask(before)), after: after && (await ask(after)) };
        }
        case 'why':
          return { kind: 'why', why: await why(question) };
        case 'rerun': {
          const { config, update } = question;
          const ask = (weights: Weights) => rerun(replaying(config), env, config, { update, weights });
          const { before, after } = either(update, (weights) => weights);
          return { kind: 'rerun', before: before && (await ask(before)), after: after && (await ask(after)) };
        }
        case 'attention': {
          const { config, row, position, update } = question;
          const weights = log.at(update - 1);
          if (!weights) return { kind: 'attention', attention: null };
          const by = reading(weights, config);
          by.load(row);
          return { kind: 'attention', attention: by.attention(0, position) };
        }
        case 'ghost': {
          const { config, batch, flipped } = question;
          const taught = lessons.at(batch.update)?.lesson;
          return { kind: 'ghost', ghost: taught ? ghostBatch(batch, config, taught, flipped) : null };
        }
        case 'branch': {
          const { config } = question;
          return { kind: 'branch', branch: await branch(reading(await current(), config), env, config, question) };
        }
      }
    },
    dispose: () => {
      reader?.destroy();
      replay?.policy.destroy();
    },
  };
}
