import type { EnvSettings, Episode, ToolEnv, TurnResult } from '../envs/env.ts';
import type { DecodeChunk, DecodedChunk, Policy, Sampling } from '../model/policy.ts';
import type { EpisodeView, StopReason } from '../protocol.ts';
import { type Grammar, Role } from '../tokens.ts';
import { type EpisodeRecord, episodeRecord, payLastAction } from './record.ts';

/** What to roll out: one episode per entry of `seeds`, at most one per row of the policy. */
export interface RolloutRequest {
  readonly seeds: readonly number[]; // task of each row; rows of one group share it
  readonly groups: Int32Array; // (B)
  readonly settings: EnvSettings;
  readonly sampling: Sampling;
  readonly chunk: number; // tokens per submit at most; changes speed only
}

/** A finished batch of episodes: the record of what was written, who wrote it, and what it was paid. */
export interface Rollouts {
  readonly record: EpisodeRecord;
  readonly groups: Int32Array; // (B)
  readonly episodes: readonly EpisodeView[]; // one per seed
}

interface Row {
  readonly index: number;
  readonly episode: Episode;
  forced: readonly number[]; // prompt or observation still to be written
  forcedRole: Role;
  state: number; // grammar state of the next draw
  turn: number;
  action: number[]; // drawn in this turn
  reward: number;
  toolCalls: number;
  invalidTurns: number;
  success: boolean;
  stop: StopReason | null;
}

/**
 * Rolls out all rows in lockstep: forced tokens, then draws until the grammar stops the turn or its budget is spent, then
 * the environment answers. Forced or drawn is the only bit that decides a role. Each turn is paid on its last action
 * token; nothing is appended after the episode is over. A row that has no room left for a draw is cut off ('tokens').
 * One awaited read-back per chunk; the result does not depend on the chunk size. `breathe` runs between chunks.
 */
export async function rollout(
  policy: Policy,
  env: ToolEnv,
  request: RolloutRequest,
  breathe: () => Promise<void>,
): Promise<Rollouts> {
  if (request.seeds.length > policy.rows) {
    throw new RangeError(`rollout: got ${request.seeds.length} tasks; want at most the policy's ${policy.rows} rows.`);
  }
  const record = episodeRecord(policy.rows, policy.length);
  const grammar = env.grammar(request.settings.grammar);
  const rows = request.seeds.map((seed, index) => newRow(index, env.reset(seed, request.settings), env, request));
  policy.setGrammar(grammar);
  policy.begin(request.sampling);
  for (;;) {
    const chunk = nextChunk(policy, env, rows, record, request.chunk);
    if (!chunk) break;
    const decoded = await policy.decode(chunk);
    for (const row of rows) {
      if (row.stop !== null) continue;
      if (takeTokens(row, chunk, decoded, record, grammar)) {
        endTurn(row, row.episode.step(row.action, request.settings), record);
      } else if (row.action.length >= env.maxTurnTokens) {
        endTurn(row, row.episode.step(row.action, request.settings), record);
      } else if (row.forced.length === 0 && roomOf(row, record) === 0) {
        row.stop = 'tokens'; // cut inside a turn: no tool runs
      }
    }
    await breathe();
  }
  return { record, groups: request.groups, episodes: rows.map((row) => viewOf(row, request.groups)) };
}

function newRow(index: number, episode: Episode, env: ToolEnv, { settings }: RolloutRequest): Row {
  return {
    index,
    episode,
    forced: episode.prompt,
    forcedRole: Role.prompt,
    state: env.firstState(settings),
    turn: 1,
    action: [],
    reward: 0,
    toolCalls: 0,
    invalidTurns: 0,
    success: false,
    stop: null,
  };
}

function roomOf(row: Row, record: EpisodeRecord): number {
  return record.length - (record.lengths[row.index] ?? 0);
}

/** What each row does next, in as few steps as the neediest row wants; null when all are over. */
function nextChunk(
  policy: Policy,
  env: ToolEnv,
  rows: readonly Row[],
  record: EpisodeRecord,
  limit: number,
): DecodeChunk | null {
  const drawsOf = (row: Row) =>
    Math.min(env.maxTurnTokens - row.action.length, roomOf(row, record) - row.forced.length);
  const open = rows.filter((row) => row.stop === null);
  if (open.length === 0) return null;
  const steps = Math.min(limit, Math.max(...open.map((row) => row.forced.length + drawsOf(row))));
  const forced = new Int32Array(policy.rows * steps);
  const forcedCounts = new Int32Array(policy.rows);
  const forcedRoles = new Int32Array(policy.rows).fill(Role.observation);
  const states = new Int32Array(policy.rows).fill(-1);
  const budgets = new Int32Array(policy.rows);
  for (const row of open) {
    const now = row.forced.slice(0, steps);
    forced.set(now, row.index * steps);
    forcedCounts[row.index] = now.length;
    forcedRoles[row.index] = row.forcedRole;
    if (now.length < row.forced.length) continue; // the rest is forced in the next chunk, then it draws
    states[row.index] = row.state;
    budgets[row.index] = drawsOf(row);
  }
  return { steps, forced, forcedCounts, forcedRoles, states, budgets };
}

/** Records a row's forced and drawn tokens of one chunk; true when the grammar ended its turn. */
function takeTokens(
  row: Row,
  chunk: DecodeChunk,
  decoded: DecodedChunk,
  record: EpisodeRecord,
  grammar: Grammar,
): boolean {
  const taken = chunk.forcedCounts[row.index] ?? 0;
  // an observation belongs to the turn it answers
  const turn = row.forcedRole === Role.prompt ? 0 : row.turn - 1;
  for (const token of row.forced.slice(0, taken)) {
    record.push(row.index, token, { role: row.forcedRole, turn, state: 0, logprob: 0 });
  }
  row.forced = row.forced.slice(taken);
  const at = row.index * chunk.steps;
  for (let k = 0; k < (decoded.counts[row.index] ?? 0); k++) {
    const token = decoded.tokens[at + k] ?? 0;
    const logprob = decoded.logprobs[at + k] ?? 0;
    record.push(row.index, token, { role: Role.action, turn: row.turn, state: row.state, logprob });
    row.action.push(token);
    row.state = grammar.next[row.state * grammar.vocabulary + token] ?? -1;
    if (row.state < 0) {
      throw new Error(`rollout: row ${row.index} drew token ${token}; want one that is legal in its grammar state.`);
    }
  }
  return row.action.length > 0 && grammar.stop[row.state] === 1;
}

/** Pays a turn and queues what the environment answers, or ends the episode. */
function endTurn(row: Row, result: TurnResult, record: EpisodeRecord): void {
  const reward = result.reward + result.processReward;
  if (reward !== 0) payLastAction(record, row.index, reward);
  row.reward += reward;
  row.toolCalls += result.toolCall ? 1 : 0;
  row.invalidTurns += result.valid ? 0 : 1;
  row.success = result.success;
  row.stop = result.stop;
  if (row.stop !== null) return;
  if (result.observation.length >= roomOf(row, record)) {
    row.stop = 'tokens'; // no room to read the answer and draw: end on the agent's own token
    return;
  }
  row.turn++;
  row.action = [];
  row.forced = result.observation;
  row.forcedRole = Role.observation;
  row.state = result.state;
}

function viewOf(row: Row, groups: Int32Array): EpisodeView {
  return {
    row: row.index,
    group: groups[row.index] ?? 0,
    question: row.episode.question,
    reward: row.reward,
    success: row.success,
    stop: row.stop ?? 'tokens',
    turns: row.turn,
    toolCalls: row.toolCalls,
    invalidTurns: row.invalidTurns,
    view: row.episode.view(),
  };
}
