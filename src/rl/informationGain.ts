import type { Policy } from '../model/policy.ts';
import { type Grammar, tokenRecord } from '../domain/tokens.ts';
import type { RightAnswer } from '../envs/env.ts';
import { type Turn, turnLogprobs, turnsOf } from './inputDependence.ts';
import type { Rollouts } from './rollout.ts';

export interface InformationGainOptions {
  readonly weight: number;
  readonly temperature: number;
  readonly grammar: Grammar; // in which the turns were drawn
  readonly onLastAction: boolean; // as in `EnvSettings.rewardOnLastAction`
}

/**
 * Pays each turn for how much likelier it made the right answer, in place (IGPO, Wang et al. 2025, arXiv 2510.14967):
 * `weight` · (log p(answer | what the agent has read before the next turn) − log p(answer | … before this turn)). p is
 * the policy with its current weights, without a gradient, in the grammar state of the turn. The tokens of the answer
 * are summed, without the given ones. The last turn gets nothing, because nothing is read after it; so the rewards of
 * a rollout add up to `weight` times the difference between its last and its first context. The paper takes the mean
 * over the answer's tokens, and differences of probabilities. Scores equal contexts once, `policy.rows` in a pass, and
 * loads the batch again, which scoring overwrites. A rollout without a known answer gets nothing.
 */
export async function payInformationGain(
  policy: Policy,
  rollouts: Rollouts,
  { weight, temperature, grammar, onLastAction }: InformationGainOptions,
): Promise<Rollouts> {
  const { record, rightAnswers = [] } = rollouts;
  const asked = rollouts.episodes.map((_, row) => {
    const answer = rightAnswers[row];
    return answer ? turnsOf(record, row).flatMap((turn) => answerInPlaceOf(turn, answer, grammar) ?? []) : [];
  });
  const fitting = asked.map((own) =>
    own.filter(({ context, tokens }) => context.length + tokens.length <= policy.length),
  );
  const keyOf = ({ context, tokens, states }: Turn) =>
    [context, tokens, [states[0]]].map((each) => Array.from(each).join(' ')).join(' | ');
  const distinct = new Map(fitting.flat().map((answer) => [keyOf(answer), answer]));
  const scores = await turnLogprobs(policy, [...distinct.values()], temperature);
  const scoreOf = new Map([...distinct.keys()].map((key, i) => [key, scores[i]!]));
  policy.load(tokenRecord(record));
  const episodes = rollouts.episodes.map((episode, row) => {
    let information = 0;
    fitting[row]!.slice(1).forEach((next, i) => {
      const before = fitting[row]![i]!;
      const gain = weight * (scoreOf.get(keyOf(next))! - scoreOf.get(keyOf(before))!);
      record.pay(row, (onLastAction ? before.end : next.start) - 1, 'information', gain);
      information += gain;
    });
    return { ...episode, parts: { ...episode.parts, information }, reward: episode.reward + information };
  });
  return { ...rollouts, episodes };
}

/** The answer as the agent could have written it in place of a turn, with that turn's place in the row; null if the grammar doesn't allow it there. */
function answerInPlaceOf(turn: Turn, { tokens, given }: RightAnswer, { next, vocabulary }: Grammar): Turn | null {
  const states = [turn.states[0]!];
  for (const token of tokens) states.push(next[(states.at(-1) ?? -1) * vocabulary + token] ?? -1);
  if (states.includes(-1)) return null;
  const context = [...Array.from(turn.context), ...tokens.slice(0, given)];
  return { ...turn, context, tokens: tokens.slice(given), states: states.slice(given, -1) };
}
