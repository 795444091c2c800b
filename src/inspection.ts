import type { RunConfig } from './config.ts';
import type { ToolEnv } from './envs/env.ts';
import { weightsHash, type Weights } from './model/architecture.ts';
import { logSoftmaxRow } from './model/cpu/head.ts';
import { createCpuPolicy, type CpuPolicy } from './model/cpu/policy.ts';
import type { Policy } from './model/policy.ts';
import type { Answer, Question, RecordedRow } from './protocol.ts';
import { branch } from './rl/branch.ts';
import { learningMath } from './rl/learningMath.ts';
import type { Grammar } from './tokens.ts';
import { WeightLog } from './weightLog.ts';

/** Answers questions about kept rollouts. */
export interface Inspection {
  /** Keeps the weights as they are after `update`. Call it between updates. */
  readonly keep: (update: number) => Promise<void>;
  /** One question at a time: wait for the answer before the next. Throws when a branch's script is not legal. */
  readonly answer: (question: Question) => Promise<Answer>;
  readonly dispose: () => void;
}

/**
 * Answers on a policy of one row of its own, on the CPU whatever the run computes on: it gets copies of the run's weights, so the
 * run's batch, caches, moments and draws are out of its reach. The CPU and GPU policies agree to float32 rounding.
 */
export function openInspection(policy: Policy, env: ToolEnv, seed: number): Inspection {
  const log = new WeightLog();
  let reader: CpuPolicy | null = null;
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

  return {
    async keep(update) {
      log.keep(update, (await policy.readState()).policy.weights);
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
          const ask = async (weights: Weights) => {
            const by = reading(weights, config);
            by.load(row);
            by.score(config.temperature, { reference: false, values: false });
            return (await by.report()).logprobs;
          };
          const { before, after } = either(update, (weights) => weights);
          // one after the other: they share the reader
          return { kind: 'logprobs', before: before && (await ask(before)), after: after && (await ask(after)) };
        }
        case 'branch': {
          const { config } = question;
          return { kind: 'branch', branch: await branch(reading(await current(), config), env, config, question) };
        }
      }
    },
    dispose: () => reader?.destroy(),
  };
}

/** Log-probabilities (V) of the token after the reader's last one, −Infinity where it is not legal in `state`. */
function distribution(reader: CpuPolicy, { next }: Grammar, state: number, at: number, temperature: number) {
  const v = reader.model.vocab_size;
  const row = Float32Array.from(reader.logits().subarray(at * v, (at + 1) * v));
  logSoftmaxRow(row, 0, v, next, state * v, temperature);
  return row.map((logprob, token) => ((next[state * v + token] ?? -1) < 0 ? -Infinity : logprob));
}

/** The first `position` tokens of a row; the rest is padding. */
function upTo({ tokens, roles, states }: RecordedRow, position: number): RecordedRow {
  return {
    tokens: tokens.slice().fill(0, position),
    roles: roles.slice().fill(0, position),
    states: states.slice().fill(0, position),
  };
}
