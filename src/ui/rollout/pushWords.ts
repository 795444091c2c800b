import type { BatchView } from '../../domain/batch.ts';
import { exact, signed } from '../parts/numberText.ts';
import { passesOf } from './push.ts';

/** What one epoch did to a token through its own term of the objective. */
export interface PassPush {
  readonly pass: number; // from 1
  readonly push: number; // −∂L/∂log π: above 0 it makes the token likelier
  readonly policy: number; // the policy loss's part: A · ρ · share
  readonly share: number; // of the mean; 0 where the row was not learned from
  readonly ratio: number | null; // ρ, where the policy loss pushed at all
  readonly clipped: boolean; // it has an advantage, and the clip held it
}

/** How the update pushed the token at a flat index by its own term: one entry an epoch, with the numbers behind it. */
export function pushes(batch: BatchView, i: number): readonly PassPush[] {
  const advantage = batch.advantages[i] ?? 0;
  const row = Math.floor(i / batch.length);
  return passesOf(batch).map(({ pass, gradWeights, policyWeights, shares }) => {
    const share = shares?.[row] ?? 0;
    const policy = 0 - (policyWeights[i] ?? 0); // 0, not −0, of nothing
    const learned = batch.lossMask[i] !== 0 && batch.kept[row] !== 0;
    return {
      pass,
      push: 0 - (gradWeights[i] ?? 0),
      policy,
      share,
      ratio: policy !== 0 && share !== 0 && advantage !== 0 ? policy / (advantage * share) : null,
      clipped: learned && advantage !== 0 && policy === 0,
    };
  });
}

/** How the update pushed a token by its own term, in a sentence. Names the epochs if they differ. */
export function pushSentence(all: readonly PassPush[]): string {
  const total = all.reduce((sum, { push }) => sum + push, 0);
  const held = all.filter(({ clipped }) => clipped).map(({ pass }) => pass);
  const acted = all.filter(({ push }) => push !== 0).map(({ pass }) => pass);
  if (acted.length === 0) {
    return held.length > 0
      ? `In the loss, but not pushed: clipped${inEpochs(held, all.length)}.`
      : 'In the loss, but not pushed: no advantage.';
  }
  const way = total > 0 ? '▲ This rollout pushed the token up' : '▼ This rollout pushed the token down';
  const ways = new Set(all.filter(({ push }) => push !== 0).map(({ push }) => Math.sign(push)));
  const turned = ways.size > 1 ? '; the epochs pushed in opposite directions' : '';
  if (held.length > 0) return `${way}${inEpochs(acted, all.length)}${turned}; clipped${inEpochs(held, all.length)}.`;
  return `${way}${all.length > 1 ? ` (${all.length === 2 ? 'both' : `all ${all.length}`} epochs)` : ''}${turned}.`;
}

function inEpochs(epochs: readonly number[], of: number): string {
  if (epochs[0] === 0) return ' in the last epoch'; // the batch kept no other
  if (of === 1) return '';
  return ` in epoch ${epochs.join(' and ')}`;
}

/** One epoch's push: the formula with this token's numbers. */
export function passFormula({ push, policy, share, ratio, clipped }: PassPush, advantage: number): string {
  const rest = push - policy;
  const kl = Math.abs(rest) > 1e-9 * Math.abs(push) ? `${policy === 0 ? '' : ' '}${signed(rest)} by KL` : '';
  // the batch keeps no ratio of a clipped token
  if (clipped) {
    const bound = advantage > 0 ? 'its ratio is above 1 + ε₊' : 'its ratio is past the bound';
    return `clipped, ${bound}: 0${kl && ` ${kl} = ${signed(push)}`}`;
  }
  if (policy === 0) return kl ? `${kl.trim()} = ${signed(push)}` : '0';
  if (ratio === null) return signed(push);
  return `${signed(advantage)} × ${exact(ratio)} × 1/${exact(1 / share)}${kl} = ${signed(push)}`;
}

/** How the update pushed a token by its own term, or why it didn't. */
export function pushReason(batch: BatchView, i: number, observation: boolean): string {
  if (batch.kept[Math.floor(i / batch.length)] === 0) return 'The group filter dropped this prompt: no gradient.';
  // its weight in the loss meets a log-probability that is 0 whatever the weights are
  if (batch.singles[i] === 1)
    return `Only one word is legal here, so its probability is always 1: no update can change it.${batch.lossMask[i] === 0 ? ' It isn’t counted anywhere.' : ''}`;
  const all = pushes(batch, i);
  if (batch.lossMask[i] !== 0) return pushSentence(all);
  if (all.some(({ push }) => push !== 0)) return 'Not in the policy loss; only the KL term moves it.';
  return observation ? 'The environment wrote this: no gradient.' : 'Not in the loss: no gradient.';
}
