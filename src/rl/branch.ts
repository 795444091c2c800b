import type { RunConfig } from '../config/config.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { EpisodeSeeds } from '../envs/turnRules.ts';
import { envSettings } from '../envs/index.ts';
import type { DecodeChunk, DecodedChunk } from '../model/decoding.ts';
import type { Policy } from '../model/policy.ts';
import type { BatchView } from '../domain/batch.ts';
import { Purpose, streamKey } from '../base/rng.ts';
import type { Grammar } from '../domain/tokens.ts';
import { rollout } from './rollout.ts';
import type { Decoding } from './rows.ts';
import { batchView } from './summarize.ts';

/** An episode to be played again, another way. */
export interface BranchRequest extends EpisodeSeeds {
  readonly script: readonly number[]; // the agent's first tokens; the policy writes the rest
  readonly temperature: number;
  readonly take: number; // counter of the draws: the same take gives the same branch
}

/**
 * Plays a task again with the agent's first tokens given. The environment answers as it did, as long as the actions are the
 * same; draws come from a stream of their own. `policy` holds one row, and its batch is overwritten. Returns a batch of that
 * row with the log-probabilities its policy gives the given tokens too; nothing has learned from it. Throws when a given token
 * is not legal where it stands.
 */
export async function branch(
  policy: Policy,
  env: ToolEnv,
  config: RunConfig,
  { seed, luck, script, temperature, take }: BranchRequest,
): Promise<BatchView> {
  const { topK, topP, decodeChunk } = config;
  const played = await rollout(
    scripted(policy, script),
    env,
    {
      tasks: [{ seed, luck }],
      groups: Int32Array.of(0),
      settings: envSettings(config),
      sampling: { key: streamKey(config.seed, Purpose.branch), update: take, temperature, greedy: false, topK, topP },
      chunk: decodeChunk,
    },
    () => Promise.resolve(),
  );
  const { tokens, roles, states } = played.record;
  policy.load({ tokens, roles, states });
  policy.score(temperature, { reference: false, values: false });
  return batchView(0, played, { groups: Int32Array.of(-1) }, await policy.report(), config);
}

/** A policy of one row that writes `script` before it draws. Scripted tokens are counted as drawn, with log-probability 0. */
function scripted(policy: Decoding, script: readonly number[]): Decoding {
  if (policy.rows !== 1) throw new RangeError(`scripted: got a policy of ${policy.rows} rows; want one.`);
  let left = [...script];
  let grammar: Grammar | null = null;
  return {
    rows: 1,
    length: policy.length,
    setGrammar(next) {
      grammar = next;
      policy.setGrammar(next);
    },
    begin(sampling) {
      left = [...script];
      policy.begin(sampling);
    },
    async decode(chunk): Promise<DecodedChunk> {
      if (!grammar) throw new Error('scripted: decode before setGrammar.');
      const written = walk(grammar, left, chunk);
      left = left.slice(written.tokens.length);
      const decoded = await policy.decode(afterScript(chunk, written));
      const drawn = decoded.tokens.subarray(0, decoded.counts[0]);
      const tokens = new Int32Array(chunk.steps);
      const logprobs = new Float32Array(chunk.steps);
      tokens.set([...written.tokens, ...drawn]);
      logprobs.set(decoded.logprobs.subarray(0, drawn.length), written.tokens.length);
      return { counts: Int32Array.of(written.tokens.length + drawn.length), tokens, logprobs };
    },
  };
}

/** What a script writes in one chunk, and the grammar state it leaves; −1: this chunk draws nothing more. */
interface Written {
  readonly tokens: readonly number[];
  readonly state: number;
}

function walk(grammar: Grammar, script: readonly number[], chunk: DecodeChunk): Written {
  const tokens: number[] = [];
  const room = Math.min(chunk.steps - chunk.forcedCounts[0]!, chunk.budgets[0]!);
  let state = chunk.states[0]!;
  if (state < 0) return { tokens, state };
  while (tokens.length < room && tokens.length < script.length) {
    const token = script[tokens.length]!;
    const next = grammar.next[state * grammar.vocabulary + token] ?? -1;
    if (next < 0) throw new Error(`branch: token ${token} cannot stand there; want one that the grammar allows.`);
    tokens.push(token);
    state = next;
    if (grammar.stop[state] === 1) return { tokens, state: -1 };
  }
  return { tokens, state: tokens.length < room ? state : -1 };
}

/** The chunk with the script's tokens among the forced ones. */
function afterScript(chunk: DecodeChunk, { tokens, state }: Written): DecodeChunk {
  const before = chunk.forcedCounts[0]!;
  const forced = chunk.forced.slice();
  forced.set(tokens, before);
  return {
    ...chunk,
    forced,
    forcedCounts: Int32Array.of(before + tokens.length),
    states: Int32Array.of(state),
    budgets: Int32Array.of(chunk.budgets[0]! - tokens.length),
  };
}
