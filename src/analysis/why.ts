import type { Weights } from '../model/architecture.ts';
import type { CpuPolicy } from '../model/cpu/policy.ts';
import type { NetworkState } from '../model/policy.ts';
import { type KeptBatch, recordOf } from '../domain/batch.ts';
import type { Why } from '../domain/readings.ts';
import { creditOf, type Lesson } from '../rl/lesson.ts';
import { attribute, logprobGradient } from './attribution.ts';
import { logprobs } from './readings.ts';
import type { Replay } from './replay.ts';

/** An update as it is kept: its batch, the network before it, the weights after it, and what it did in between. */
export interface KeptUpdate extends KeptBatch {
  readonly before: NetworkState;
  readonly after: Weights;
  readonly lesson: Lesson;
}

/** Why an update moved a token. `reading` gives a policy of one row the weights it is asked for, and the grammar. */
export async function whyMoved(
  reading: (weights: Weights) => CpuPolicy,
  replay: Replay,
  { batch, config, before, after, lesson }: KeptUpdate,
  { row, position }: { readonly row: number; readonly position: number },
): Promise<Why> {
  const record = recordOf(batch, row);
  const probe = logprobGradient(reading(before.weights), record, position, config.temperature);
  const credit = creditOf(batch, lesson.credit);
  const parts = await attribute(replay, batch, { lesson, credit }, before, probe);
  const was = await logprobs(reading(before.weights), record, config.temperature);
  const is = await logprobs(reading(after), record, config.temperature);
  const [from, to] = [was[position] ?? 0, is[position] ?? 0];
  const explained = [parts.kl, parts.entropy, parts.value, parts.momentum, parts.decay, ...parts.rollouts];
  const residual = explained.reduce((left, part) => left - part, to - from);
  return { ...parts, before: from, after: to, residual };
}
