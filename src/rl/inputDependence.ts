import type { Metrics } from '../domain/metrics.ts';
import type { Policy } from '../model/policy.ts';
import { Purpose, random, type Random } from '../base/rng.ts';
import { type Grammar, Role } from '../domain/tokens.ts';
import { type EpisodeRecord, episodeRecord } from './episodeRecord.ts';

/** A turn and everything that the agent read before it. */
export interface Turn extends TurnTokens {
  readonly context: ArrayLike<number>;
  readonly start: number; // of its first token in the row
  readonly end: number; // one past its last token
  readonly isFirst: boolean; // of its episode
}

export interface InputDependence {
  readonly mutualInformation: number; // nats, at most log N
  readonly standardError: number; // of `mutualInformation`, from the spread over the N turns
  readonly conditionalEntropy: number; // H(Z|X), nats
  readonly retrievalAccuracy: number;
  readonly chance: number; // 1 / N
}

/**
 * Computes RAGEN-2's proxy for the mutual information between context and turn (Wang et al. 2026, §3; its
 * `collapse_metrics.py`). `likelihood[i][j]` is the log-probability of turn i under context j, N × N. Î = mean_i (ℓ_ii
 * − log mean_j e^{ℓ_ij}) ≤ log N, and H(Z|X) = −mean_i ℓ_ii. Retrieval accuracy is the share of turns whose own context
 * gives the largest ℓ; a turn whose context ties with n − 1 others counts as 1/n. Turns that ignore what was read have
 * Î = 0 and retrieval at chance, however varied they are.
 */
export function inputDependence(likelihood: readonly (readonly number[])[]): InputDependence {
  const n = likelihood.length;
  const matched = likelihood.map((row, i) => row[i]!);
  let retrieved = 0;
  const gains = likelihood.map((row, i) => {
    const largest = Math.max(...row);
    const marginal = largest + Math.log(row.reduce((sum, l) => sum + Math.exp(l - largest), 0) / n);
    const best = row.filter((l) => l >= largest - 1e-6);
    if (row[i]! >= largest - 1e-6) retrieved += 1 / best.length;
    return row[i]! - marginal;
  });
  const mutualInformation = mean(gains);
  const variance = gains.reduce((sum, gain) => sum + (gain - mutualInformation) ** 2, 0) / (n - 1);
  return {
    mutualInformation,
    standardError: Math.sqrt(variance / n),
    conditionalEntropy: -mean(matched),
    retrievalAccuracy: retrieved / n,
    chance: 1 / n,
  };
}

/**
 * The exact mutual information between a turn and N equally likely contexts, I = mean_i Σ_z p_i(z) log(p_i(z) / mean_j
 * p_j(z)), and the exact H(Z|X), in nats. `logprobs[i]` has the log-probability of each turn that context i allows.
 * 0 ≤ I ≤ log N.
 */
export function exactInputDependence(
  logprobs: readonly ReadonlyMap<string, number>[],
): Pick<InputDependence, 'mutualInformation' | 'conditionalEntropy'> {
  const n = logprobs.length;
  const mixture = new Map<string, number>();
  for (const [turn, l] of logprobs.flatMap((each) => [...each])) {
    mixture.set(turn, (mixture.get(turn) ?? 0) + Math.exp(l) / n);
  }
  const entropy = (p: number) => (p > 0 ? -p * Math.log(p) : 0);
  const conditionalEntropy = mean(
    logprobs.map((each) => [...each.values()].reduce((h, l) => h + entropy(Math.exp(l)), 0)),
  );
  const marginalEntropy = [...mixture.values()].reduce((h, p) => h + entropy(p), 0);
  return { mutualInformation: marginalEntropy - conditionalEntropy, conditionalEntropy };
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

interface MeasurementOptions {
  readonly seed: number;
  readonly update: number;
  readonly temperature: number;
  readonly grammar: Grammar; // in which the turns were drawn
  readonly maxTurnTokens: number; // as in `ToolEnv`
}

/** The exact numbers are computed if one pass for each `rows` pairs of turn and context takes at most this many passes. */
const MAX_EXACT_PASSES = 16;

/**
 * Draws N turns with different contexts, uniformly over turns, and scores every turn under every context. Then the same
 * with first turns only, where the context is the task. If the first turns that are legal are few, all of them are
 * scored, which gives the exact mutual information. N is at most the square root of the policy's rows, so the first two
 * take a scoring pass and a read-back each. Contexts with the same tokens count once. Leaves out what has fewer than
 * two contexts. Overwrites the policy's batch.
 */
export async function measureInputDependence(
  policy: Policy,
  record: EpisodeRecord,
  options: MeasurementOptions,
): Promise<Metrics> {
  const { seed, update, temperature, grammar, maxTurnTokens } = options;
  const allTurns = Array.from({ length: record.rows }, (_, row) => turnsOf(record, row)).flat();
  const firstTurns = allTurns.filter(({ isFirst }) => isFirst);
  const [turns, firsts] = [allTurns, firstTurns].map((from, draw) =>
    chooseTurns(from, Math.floor(Math.sqrt(policy.rows)), random(seed, Purpose.inputDependence, update, draw)),
  ) as [Turn[], Turn[]];
  const sampled = async (chosen: readonly Turn[]) => {
    const pairs = chosen.flatMap((turn) => chosen.map(({ context }): Pair => ({ ...turn, context })));
    const scores = await turnLogprobs(policy, pairs, temperature);
    return inputDependence(chosen.map((_, i) => scores.slice(i * chosen.length, (i + 1) * chosen.length)));
  };
  const values: Metrics = {};
  if (turns.length >= 2) {
    const all = await sampled(turns);
    values['collapse/mi_seq_estimate'] = all.mutualInformation;
    values['collapse/conditional_entropy_seq_est'] = all.conditionalEntropy;
    values['collapse/retrieval_accuracy'] = all.retrievalAccuracy;
    values['collapse/retrieval_chance_level'] = all.chance;
  }
  if (firsts.length >= 2) {
    const first = await sampled(firsts);
    values['collapse_first_turn_sample/mi_seq_estimate'] = first.mutualInformation;
    values['collapse_first_turn_sample/mi_seq_error'] = first.standardError;
    values['collapse_first_turn_sample/conditional_entropy_seq_est'] = first.conditionalEntropy;
    values['collapse_first_turn_sample/mi_upper_bound'] = Math.log(firsts.length);
    const maxTurns = Math.floor((MAX_EXACT_PASSES * policy.rows) / firsts.length);
    const legal = firsts.map(({ states }) => legalTurns(grammar, states[0]!, maxTurnTokens, maxTurns));
    if (legal.every((each) => each !== null)) {
      const pairs = legal.flatMap((each, i) => each.map((turn): Pair => ({ ...turn, context: firsts[i]!.context })));
      const scores = await turnLogprobs(policy, pairs, temperature);
      let at = 0;
      const exact = exactInputDependence(
        legal.map((each) => new Map(each.map(({ tokens }) => [Array.from(tokens).join(' '), scores[at++]!]))),
      );
      values['collapse_first_turn_exact/mi_seq'] = exact.mutualInformation;
      values['collapse_first_turn_exact/conditional_entropy_seq'] = exact.conditionalEntropy;
    }
  }
  return values;
}

/** Chooses up to `maxTurns` turns of the agent, no two with the same context. */
function chooseTurns(turns: readonly Turn[], maxTurns: number, draw: Random): Turn[] {
  const byContext = new Map<string, Turn>();
  for (const turn of draw.shuffle([...turns])) {
    if (byContext.size === maxTurns) break;
    const context = Array.from(turn.context).join(' ');
    if (!byContext.has(context)) byContext.set(context, turn);
  }
  return [...byContext.values()];
}

/** The agent's turns in a row of the record, in order. */
export function turnsOf(record: EpisodeRecord, row: number): Turn[] {
  const turns: Turn[] = [];
  const from = row * record.length;
  const isAction = (t: number) => t < record.lengths[row]! && record.roles[from + t] === Role.action;
  for (let t = 1; t < record.lengths[row]!; t++) {
    if (!isAction(t) || isAction(t - 1)) continue;
    let end = t;
    while (isAction(end)) end++;
    const contextStart = record.contextStarts?.[from + t] ?? 0;
    turns.push({
      context: record.tokens.subarray(from + contextStart, from + t),
      tokens: record.tokens.subarray(from + t, from + end),
      states: record.states.subarray(from + t, from + end),
      ...{ start: t, end },
      isFirst: turns.length === 0,
    });
  }
  return turns;
}

type Pair = TurnTokens & Pick<Turn, 'context'>;

/**
 * The log-probability of each turn after its context. Takes one scoring pass and one read-back for each `policy.rows`
 * pairs. Tokens that don't fit into a row are left out.
 */
export async function turnLogprobs(policy: Policy, pairs: readonly Pair[], temperature: number): Promise<number[]> {
  const scores: number[] = [];
  for (let from = 0; from < pairs.length; from += policy.rows) {
    const passPairs = pairs.slice(from, from + policy.rows);
    const { push, ...record } = episodeRecord(policy.rows, policy.length);
    passPairs.forEach(({ context, tokens, states }, row) => {
      const write = (token: number, role: Role, grammarState: number) => {
        if (record.lengths[row]! < policy.length) push(row, token, { role, turn: 0, grammarState, logprob: 0 });
      };
      Array.from(context).forEach((token) => write(token, Role.prompt, 0));
      Array.from(tokens).forEach((token, t) => write(token, Role.action, states[t]!));
    });
    const { tokens, roles, states } = record;
    policy.load({ tokens, roles, states });
    await policy.score(temperature, { reference: false, values: false });
    const { logprobs } = await policy.report();
    passPairs.forEach(({ context }, row) => {
      const turn = logprobs.subarray(row * policy.length + context.length, row * policy.length + record.lengths[row]!);
      scores.push(turn.reduce((sum, l) => sum + l, 0));
    });
  }
  return scores;
}

interface TurnTokens {
  readonly tokens: ArrayLike<number>; // ids
  readonly states: ArrayLike<number>; // grammar state in which each token is drawn
}

/**
 * All turns that the grammar allows from `state`. Null if there are more than `maxTurns`, or if one doesn't end within
 * `maxTokens`: turns that are cut off would be left out.
 */
export function legalTurns(
  { next, stop, vocabulary }: Grammar,
  state: number,
  maxTokens: number,
  maxTurns: number,
): TurnTokens[] | null {
  const turns: TurnTokens[] = [];
  const walk = (at: number, tokens: readonly number[], states: readonly number[]): boolean => {
    if (stop[at]) return turns.push({ tokens, states }) <= maxTurns;
    if (tokens.length === maxTokens) return false;
    let goesOn = false;
    for (let token = 0; token < vocabulary; token++) {
      const to = next[at * vocabulary + token] ?? -1;
      if (to < 0) continue;
      if (!walk(to, [...tokens, token], [...states, at])) return false;
      goesOn = true;
    }
    return goesOn;
  };
  return walk(state, [], []) ? turns : null;
}
