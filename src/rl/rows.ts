import { answerAll, type Stepper } from '../envs/stepper.ts';
import type { DecodeChunk } from '../model/decoding.ts';
import type { Policy } from '../model/policy.ts';
import { type EpisodeView, REWARD_PARTS } from '../domain/episode.ts';
import { Role } from '../domain/tokens.ts';
import type { EpisodeRecord } from './episodeRecord.ts';

export type DecodingPolicy = Pick<Policy, 'rows' | 'length' | 'setGrammar' | 'begin' | 'decode'>;

/** The record has the tokens that the policy has read or drawn so far; the others must still be forced. */
export interface Row {
  readonly index: number;
  readonly stepper: Stepper;
  recordedPayments: number; // number of the episode's payments that are already in the record
  knownRewrites: number; // number of the episode's `rewrites` that the record and the policy know
}

export function newRow(index: number, stepper: Stepper): Row {
  return { index, stepper, recordedPayments: 0, knownRewrites: stepper.rewrites.length };
}

/**
 * Advances the open rows by one chunk of at most `limit` tokens. Returns false, and does nothing, if no row is open.
 * Tokens that the policy hasn't read are forced first. Then the policy draws until the grammar ends the turn or the
 * budget is used up. If a finished turn was encoded again and its tokens changed, the policy forgets it from the first
 * such token on, and the next chunks force the new ones. An environment that answers later is asked once, for all finished turns. Throws if a row draws a
 * token that its grammar forbids.
 */
export async function advance(
  policy: DecodingPolicy,
  rows: readonly Row[],
  record: EpisodeRecord,
  limit: number,
): Promise<boolean> {
  const open = rows.filter((row) => row.stepper.stop === null || unread(row, record) > 0);
  if (open.length === 0) return false;
  const chunk = nextChunk(policy, open, record, limit);
  const { counts, tokens, logprobs, logMass } = await policy.decode(chunk);
  for (const row of open) {
    const { index, stepper } = row;
    for (let at = index * chunk.maxTokens; at < index * chunk.maxTokens + counts[index]!; at++) {
      const token = tokens[at]!;
      if (!stepper.allows(token)) {
        throw new Error(`rollout: row ${index} drew token ${token}, which is illegal in its grammar state.`);
      }
      stepper.take(token, logprobs[at], logprobs[at]! - (logMass?.[at] ?? 0));
    }
  }
  await answerAll(open.map(({ stepper }) => stepper));
  for (const row of open) {
    const { index, stepper } = row;
    recordTokens(row, record, chunk.forcedCounts[index]! + counts[index]!);
    for (const { tokenIndex: at, part, reward } of stepper.tokenRewards.slice(row.recordedPayments))
      record.pay(index, at, part, reward);
    row.recordedPayments = stepper.tokenRewards.length;
  }
  return true;
}

function unread({ index, stepper }: Row, record: EpisodeRecord): number {
  return stepper.tokens.length - record.lengths[index]!;
}

/** The next chunk of every row. It has as many steps as the row with the most work needs, up to `limit`. */
function nextChunk(policy: DecodingPolicy, open: readonly Row[], record: EpisodeRecord, limit: number): DecodeChunk {
  const remainingTokens = open.map((row) => unread(row, record) + row.stepper.budget);
  const steps = Math.min(limit, Math.max(...remainingTokens));
  const forced = new Int32Array(policy.rows * steps);
  const forcedCounts = new Int32Array(policy.rows);
  const forcedRoles = new Int32Array(policy.rows).fill(Role.observation);
  const states = new Int32Array(policy.rows).fill(-1);
  const budgets = new Int32Array(policy.rows);
  const restarts = new Uint8Array(policy.rows);
  for (const row of open) {
    const { index, stepper } = row;
    const unreadTokens = stepper.tokens.slice(record.lengths[index]);
    const [first] = unreadTokens;
    // a chunk forces tokens of one role and one context only
    const change = unreadTokens.findIndex(
      ({ role, contextStart }) => role !== first!.role || contextStart !== first!.contextStart,
    );
    const forcedTokens = unreadTokens.slice(0, Math.min(steps, change < 0 ? unreadTokens.length : change));
    restarts[index] = first && first.contextStart > 0 && first.contextStart === record.lengths[index] ? 1 : 0;
    forcedTokens.forEach(({ token }, k) => (forced[index * steps + k] = token));
    forcedCounts[index] = forcedTokens.length;
    if (first) forcedRoles[index] = first.role;
    // the other tokens are forced in the next chunk, then the policy draws
    if (forcedTokens.length < unreadTokens.length || stepper.stop !== null) continue;
    states[index] = stepper.grammarState;
    budgets[index] = stepper.budget;
  }
  const kept = Int32Array.from(record.lengths);
  return { maxTokens: steps, forced, forcedCounts, forcedRoles, states, budgets, restarts, kept };
}

/** Records the tokens that the policy has read or drawn since, `added` of them, as far as no newer ones replace them. */
function recordTokens(row: Row, record: EpisodeRecord, added: number): void {
  const { index, stepper } = row;
  const known = record.lengths[index]! + added;
  const rewritten = stepper.rewrites[row.knownRewrites] ?? known;
  row.knownRewrites = stepper.rewrites.length;
  if (rewritten < record.lengths[index]!) record.clear(index, rewritten);
  for (const { token, ...origin } of stepper.tokens.slice(record.lengths[index], Math.min(known, rewritten)))
    record.push(index, token, origin);
}

export function episodeView({ index, stepper }: Row, group: number): EpisodeView {
  const { seeds, episode, rewardSums: parts, finishedTurns: taken, turn, success, stop } = stepper;
  return {
    row: index,
    group,
    seed: seeds.seed,
    environmentSeed: seeds.environmentSeed,
    question: episode.question,
    names: episode.names,
    reward: REWARD_PARTS.reduce((sum, part) => sum + parts[part], 0),
    parts,
    preferenceScore: null,
    success,
    stop: stop ?? 'tokens',
    turns: turn,
    toolCalls: taken.filter(({ toolCall }) => toolCall).length,
    waited: taken.reduce((sum, { waited }) => sum + waited, 0),
    invalidTurns: taken.filter(({ valid }) => !valid).length,
    scores: episode.scores(),
    view: episode.view(),
  };
}
