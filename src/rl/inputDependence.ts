import type { Metrics } from '../domain/metrics.ts';
import type { Policy } from '../model/policy.ts';
import { Purpose, random } from '../base/rng.ts';
import { Role } from '../domain/tokens.ts';
import { type EpisodeRecord, episodeRecord } from './episodeRecord.ts';

/** A turn and everything that the agent read before it, as indices into a row of a record. */
interface Turn {
  readonly row: number;
  readonly contextStart: number; // first token that the agent read
  readonly start: number; // first token the agent drew
  readonly end: number; // one past the last of them
}

export interface InputDependence {
  readonly mutualInformation: number; // nats, at most log N
  readonly retrievalAccuracy: number;
  readonly chance: number; // 1 / N
}

/**
 * Computes RAGEN-2's proxy for the mutual information between context and turn (Wang et al. 2026, §3; its
 * `collapse_metrics.py`). `likelihood[i][j]` is the log-probability of turn i under context j, N × N. Î = mean_i (ℓ_ii
 * − log mean_j e^{ℓ_ij}) ≤ log N. Retrieval accuracy is the share of turns whose own context gives the largest ℓ; a
 * turn whose context ties with n − 1 others counts as 1/n. Turns that ignore what was read have Î = 0 and retrieval at
 * chance, however varied they are.
 */
export function inputDependence(likelihood: readonly (readonly number[])[]): InputDependence {
  const n = likelihood.length;
  let information = 0;
  let retrieved = 0;
  for (const [i, row] of likelihood.entries()) {
    const largest = Math.max(...row);
    const marginal = largest + Math.log(row.reduce((sum, l) => sum + Math.exp(l - largest), 0) / n);
    information += row[i]! - marginal;
    const best = row.filter((l) => l >= largest - 1e-6);
    if (row[i]! >= largest - 1e-6) retrieved += 1 / best.length;
  }
  return { mutualInformation: information / n, retrievalAccuracy: retrieved / n, chance: 1 / n };
}

/**
 * It draws N turns with different contexts, uniformly over turns, and scores every turn under every context. N is at
 * most the square root of the policy's rows, so this takes one scoring pass and one read-back. Contexts with the same
 * tokens count once. Returns nothing if there are fewer than two. Overwrites the policy's batch.
 */
export async function measureInputDependence(
  policy: Policy,
  record: EpisodeRecord,
  options: { readonly seed: number; readonly update: number; readonly temperature: number },
): Promise<Metrics> {
  const turns = chooseTurns(record, Math.floor(Math.sqrt(policy.rows)), options.seed, options.update);
  if (turns.length < 2) return {};
  const crossed = episodeRecord(policy.rows, policy.length);
  const spans: { readonly start: number; readonly end: number }[] = [];
  for (const [i, turn] of turns.entries()) {
    for (const [j, context] of turns.entries()) {
      spans.push(writeCrossed(record, crossed, i * turns.length + j, turn, context));
    }
  }
  const { tokens, roles, states } = crossed;
  policy.load({ tokens, roles, states });
  await policy.score(options.temperature, { reference: false, values: false });
  const { logprobs } = await policy.report();
  const likelihood = turns.map((_, i) =>
    turns.map((_context, j) => {
      const row = i * turns.length + j;
      const { start, end } = spans[row]!;
      return logprobs.subarray(row * policy.length + start, row * policy.length + end).reduce((sum, l) => sum + l, 0);
    }),
  );
  const { mutualInformation, retrievalAccuracy, chance } = inputDependence(likelihood);
  return {
    'collapse/mi_seq_estimate': mutualInformation,
    'collapse/retrieval_accuracy': retrievalAccuracy,
    'collapse/retrieval_chance_level': chance,
  };
}

/** Draws up to `maxTurns` turns of the agent, no two with the same context. */
function chooseTurns(record: EpisodeRecord, maxTurns: number, seed: number, update: number): Turn[] {
  const turns = Array.from({ length: record.rows }, (_, row) => turnsOf(record, row)).flat();
  random(seed, Purpose.inputDependence, update).shuffle(turns);
  const seen = new Set<string>();
  const chosen: Turn[] = [];
  for (const turn of turns) {
    if (chosen.length === maxTurns) break;
    const from = turn.row * record.length;
    const context = record.tokens.subarray(from + turn.contextStart, from + turn.start).join(' ');
    if (seen.has(context)) continue;
    seen.add(context);
    chosen.push(turn);
  }
  return chosen;
}

function turnsOf(record: EpisodeRecord, row: number): Turn[] {
  const turns: Turn[] = [];
  const isAction = (t: number) => t < record.lengths[row]! && record.roles[row * record.length + t] === Role.action;
  for (let t = 1; t < record.lengths[row]!; t++) {
    if (!isAction(t) || isAction(t - 1)) continue;
    let end = t;
    while (isAction(end)) end++;
    turns.push({ row, contextStart: record.contextStarts?.[row * record.length + t] ?? 0, start: t, end });
  }
  return turns;
}

/** Returns the turn's indices in that row. Tokens that do not fit are left out. */
function writeCrossed(sourceRecord: EpisodeRecord, target: EpisodeRecord, row: number, turn: Turn, context: Turn) {
  const copy = (sourceRow: number, first: number, last: number, role: Role) => {
    for (let t = first; t < last && (target.lengths[row] ?? 0) < target.length; t++) {
      const at = sourceRow * sourceRecord.length + t;
      target.push(row, sourceRecord.tokens[at]!, { role, turn: 0, grammarState: sourceRecord.states[at]!, logprob: 0 });
    }
  };
  copy(context.row, context.contextStart, context.start, Role.prompt);
  const start = target.lengths[row]!;
  copy(turn.row, turn.start, turn.end, Role.action);
  return { start, end: target.lengths[row]! };
}
