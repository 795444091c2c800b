import type { EnvSettings, Episode, ToolEnv, TurnResult } from '../envs/env.ts';
import type { EpisodeSeeds } from '../envs/turnRules.ts';
import type { DecodeChunk, DecodedChunk } from '../model/decoding.ts';
import type { Policy } from '../model/policy.ts';
import { type EpisodeView, REWARD_PARTS, type RewardPart, type StopReason } from '../domain/episode.ts';
import { type Grammar, Role } from '../domain/tokens.ts';
import { singleStates } from './choices.ts';
import type { EpisodeRecord } from './record.ts';

/** As much of a policy as playing takes. */
export type Decoding = Pick<Policy, 'rows' | 'length' | 'setGrammar' | 'begin' | 'decode'>;

/** How episodes are played. */
export interface PlaySettings {
  readonly settings: EnvSettings;
  readonly chunk: number; // tokens per submit at most; changes speed only
}

/** An episode under way in a row of the policy. */
export interface Row {
  readonly index: number;
  readonly seed: number;
  readonly luck: number;
  readonly episode: Episode;
  forced: readonly number[]; // prompt or observation still to be written
  forcedRole: Role;
  state: number; // grammar state of the next draw
  turn: number;
  action: number[]; // drawn in this turn
  parts: Readonly<Record<RewardPart, number>>;
  toolCalls: number;
  invalidTurns: number;
  waited: number;
  success: boolean;
  stop: StopReason | null;
}

const UNPAID: Row['parts'] = { outcome: 0, process: 0, format: 0, think: 0, turnCost: 0, preference: 0 };

/** A row before its first token. */
export function newRow(index: number, { seed, luck }: EpisodeSeeds, episode: Episode): Row {
  return {
    index,
    seed,
    luck,
    episode,
    forced: episode.prompt,
    forcedRole: Role.prompt,
    state: episode.state,
    turn: 1,
    action: [],
    parts: UNPAID,
    toolCalls: 0,
    invalidTurns: 0,
    waited: 0,
    success: false,
    stop: null,
  };
}

/**
 * Advances the open rows by one chunk; false, and nothing is done, where none is open. Forced tokens first, then draws until
 * the grammar stops the turn or its budget is spent, then the environment answers. Forced or drawn is the only bit that decides
 * a role. Each turn is paid on its last action token, a think span on its `</think>`; with `rewardOnLastAction` off a turn is
 * paid on the last token of the observation that follows it, where one does (Agent-R1). Nothing is appended after the episode
 * is over. A row that has no room left for a draw is cut off ('tokens'); a turn that is cut is paid nothing.
 */
export async function advance(
  policy: Decoding,
  env: ToolEnv,
  rows: readonly Row[],
  record: EpisodeRecord,
  { settings, chunk: limit }: PlaySettings,
): Promise<boolean> {
  const chunk = nextChunk(policy, env, rows, record, limit);
  if (!chunk) return false;
  const decoded = await policy.decode(chunk);
  const grammar = env.grammar(settings.grammar);
  for (const row of rows) {
    if (row.stop !== null) continue;
    const stopped = takeTokens(row, chunk, decoded, record, grammar);
    if (stopped || row.action.length >= env.maxTurnTokens) {
      endTurn(row, row.episode.step(row.action, settings), record, settings);
    } else if (row.forced.length === 0 && roomOf(row, record) === 0) {
      row.stop = 'tokens'; // cut inside a turn: no tool runs
    }
  }
  return true;
}

function roomOf(row: Row, record: EpisodeRecord): number {
  return record.length - (record.lengths[row.index] ?? 0);
}

/** What each row does next, in as few steps as the neediest row wants; null when all are over. */
function nextChunk(
  policy: Decoding,
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
    const drawnLogprob = logprob - (decoded.logMass?.[at + k] ?? 0);
    const single = singleStates(grammar)[row.state] === 1;
    const drawn = { role: Role.action, turn: row.turn, state: row.state };
    record.push(row.index, token, { ...drawn, logprob, drawnLogprob, single });
    row.action.push(token);
    row.state = grammar.next[row.state * grammar.vocabulary + token] ?? -1;
    if (row.state < 0) {
      throw new Error(`rollout: row ${row.index} drew token ${token}; want one that is legal in its grammar state.`);
    }
  }
  return row.action.length > 0 && grammar.stop[row.state] === 1;
}

/** Pays a turn and queues what the environment answers, or ends the episode. */
function endTurn(row: Row, result: TurnResult, record: EpisodeRecord, settings: EnvSettings): void {
  const { observation, parts } = result;
  const answered = result.stop === null && observation.length < roomOf(row, record);
  pay(row, result, record, answered && !settings.rewardOnLastAction ? observation.length : 0);
  row.parts = addParts(row.parts, parts);
  row.toolCalls += result.toolCall ? 1 : 0;
  row.invalidTurns += result.valid ? 0 : 1;
  row.waited += result.waited;
  row.success = result.success;
  row.stop = result.stop;
  if (row.stop !== null) return;
  if (!answered) {
    row.stop = 'tokens'; // no room to read the answer and draw: end on the agent's own token
    return;
  }
  row.turn++;
  row.action = [];
  row.forced = observation;
  row.forcedRole = Role.observation;
  row.state = result.state;
}

/** Writes what a turn is paid: thinking on its `</think>`, the rest `later` tokens behind the turn's last. */
function pay(row: Row, { parts, thinkEnd }: TurnResult, record: EpisodeRecord, later: number): void {
  const end = (record.lengths[row.index] ?? 0) - 1;
  const start = end - row.action.length + 1;
  for (const part of REWARD_PARTS) {
    if (parts[part] === 0) continue;
    record.pay(row.index, part === 'think' && thinkEnd >= 0 ? start + thinkEnd : end + later, part, parts[part]);
  }
}

function addParts(a: Row['parts'], b: Row['parts']): Row['parts'] {
  return Object.fromEntries(REWARD_PARTS.map((part) => [part, a[part] + b[part]])) as Record<RewardPart, number>;
}

/** What a row's episode came to. */
export function viewOf(row: Row, group: number): EpisodeView {
  return {
    row: row.index,
    group,
    seed: row.seed,
    luck: row.luck,
    question: row.episode.question,
    names: row.episode.names,
    reward: REWARD_PARTS.reduce((sum, part) => sum + row.parts[part], 0),
    parts: row.parts,
    preferenceScore: null,
    success: row.success,
    stop: row.stop ?? 'tokens',
    turns: row.turn,
    toolCalls: row.toolCalls,
    waited: row.waited,
    invalidTurns: row.invalidTurns,
    scores: row.episode.scores(),
    view: row.episode.view(),
  };
}
