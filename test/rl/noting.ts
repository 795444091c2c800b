import type { ToolEnv } from '../../src/envs/env.ts';
import type { DrawCounters, Sampling } from '../../src/model/decoding.ts';
import type { Policy } from '../../src/model/policy.ts';
import type { EpisodeView } from '../../src/domain/episode.ts';
import { playQueue, type QueueRequest } from '../../src/rl/queue.ts';
import { rollout } from '../../src/rl/rollout.ts';

type Playing = Pick<Policy, 'rows' | 'length' | 'setGrammar' | 'begin' | 'beginRow' | 'decode' | 'load'>;
const yieldToEvents = () => Promise.resolve();

/** A policy that notes what it draws: by "update/rollout" the tokens and log-probabilities; and who drew in each chunk. */
function noting(policy: Playing) {
  const drawn = new Map<string, number[]>();
  const chunks: string[][] = [];
  let names: string[] = [];
  const nameOf = ({ update, rollout: number }: DrawCounters) => `${update}/${number}`;
  const noted: Playing = {
    rows: policy.rows,
    length: policy.length,
    setGrammar: (grammar) => policy.setGrammar(grammar),
    load: (record) => policy.load(record),
    begin(sampling: Sampling) {
      names = Array.from({ length: policy.rows }, (_, b) => nameOf({ update: sampling.update, rollout: b }));
      policy.begin(sampling);
    },
    beginRow(row, counters) {
      names[row] = nameOf(counters);
      policy.beginRow(row, counters);
    },
    async decode(chunk) {
      const decoded = await policy.decode(chunk);
      const working = names.flatMap((name, b) => (decoded.counts[b]! > 0 ? [{ name, b }] : []));
      chunks.push(working.map(({ name }) => name));
      for (const { name, b } of working) {
        const at = Array.from({ length: decoded.counts[b]! }, (_, i) => b * chunk.maxTokens + i);
        const now = at.flatMap((i) => [decoded.tokens[i]!, decoded.logprobs[i]!]);
        drawn.set(name, [...(drawn.get(name) ?? []), ...now]);
      }
      return decoded;
    },
  };
  return { noted, drawn, chunks };
}

/** What came of playing: episodes by task, without where each was played, and all that was drawn for them. */
export interface Played {
  readonly episodes: readonly Omit<EpisodeView, 'row' | 'group'>[];
  readonly drawn: ReadonlyMap<string, readonly number[]>;
  readonly chunks: readonly (readonly string[])[];
}

const placeless = ({ row, group, ...rest }: EpisodeView) => {
  if (row < 0 || group < 0) throw new RangeError(`episode in row ${row} of group ${group}`);
  return rest;
};

/** Plays a queue of tasks, rows refilled as they end. */
export async function refilled(policy: Playing, env: ToolEnv, request: QueueRequest): Promise<Played> {
  const { noted, drawn, chunks } = noting(policy);
  const episodes = await playQueue(noted, env, request, yieldToEvents);
  return { episodes: episodes.map(placeless), drawn, chunks };
}

/** Plays the same tasks a batch at a time; `update` counts the batches, and rows are the rollouts. */
export async function batched(policy: Playing, env: ToolEnv, request: QueueRequest): Promise<Played> {
  const { noted, drawn, chunks } = noting(policy);
  const episodes: EpisodeView[] = [];
  const groups = Int32Array.from({ length: policy.rows }, (_, row) => row);
  const { settings, begin, chunk } = request;
  for (let first = 0; first < request.tasks.length; first += policy.rows) {
    const tasks = request.tasks.slice(first, first + policy.rows);
    const sampling = { ...request.sampling, update: request.sampling.update + first / policy.rows };
    const played = await rollout(noted, env, { tasks, groups, settings, begin, chunk, sampling }, yieldToEvents);
    episodes.push(...played.episodes);
  }
  return { episodes: episodes.map(placeless), drawn, chunks };
}
