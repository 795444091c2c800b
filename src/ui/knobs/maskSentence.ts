import type { RunConfig } from '../../config/fields.ts';
import { decays, ESTIMATORS, usesCritic, usesGroups, whitens } from '../../config/estimators.ts';
import { agentOnly, idleSwitch } from '../../config/masks.ts';

/** What the masks mean together, in the case at hand: a sentence for each thing that is so. */
export function maskSentence(c: RunConfig): string {
  return [graded(c), carried(c), counted(c), regularized(c), paid(c), undecided(c)]
    .filter((text) => text !== '')
    .join(' ');
}

/** What becomes of the tool's words, in few words: for the table of four cells. */
export function maskPhrase(c: RunConfig): string {
  if (!agentOnly(c, 'policyTokens')) {
    if (!agentOnly(c, 'advantageTokens')) return 'trained like the agent’s own words';
    if (constantPush(c)) return 'all pushed by one constant';
    return averages(c) ? 'not pushed, but they dilute' : 'not pushed';
  }
  if (agentOnly(c, 'advantageTokens')) return 'not trained';
  if (decays(c)) return 'not trained, but credit leaks into them';
  return idleSwitch('advantageMask', c) === null ? 'not trained, but counted' : 'not trained: no difference';
}

function constantPush(c: RunConfig): boolean {
  return agentOnly(c, 'advantageTokens') && whitens(c) && c.remask === 'off';
}

function averages(c: RunConfig): boolean {
  return c.aggregation === 'token-mean' || c.aggregation === 'seq-mean-token-mean';
}

function graded(c: RunConfig): string {
  if (agentOnly(c, 'policyTokens')) return 'Only what the agent wrote is graded.';
  if (!agentOnly(c, 'advantageTokens')) return 'The agent is rewarded or punished for the environment’s words.';
  if (constantPush(c)) return 'The environment’s words are all pushed by one constant, the −mean/std of whitening.';
  return averages(c)
    ? 'Graded text is diluted: the environment’s words count in the mean, but carry no advantage.'
    : 'The environment’s words are in the loss, but carry no advantage, and a sum is not diluted.';
}

function carried(c: RunConfig): string {
  const skips = agentOnly(c, 'advantageTokens');
  if (usesGroups(c.estimator)) {
    if (skips) return 'One score per rollout, so there is no credit to carry across the tool’s text.';
    if (!agentOnly(c, 'policyTokens')) return 'Each rollout’s score lands on them too.';
    const nothing = c.advantageMask === 'off' && idleSwitch('advantageMask', c) !== null;
    return `One score per rollout, so no credit leaks into the tool’s text${nothing ? ': the advantage mask changes nothing' : ''}.`;
  }
  if (ESTIMATORS[c.estimator].core === 'turns') {
    return skips
      ? 'Credit goes from turn to turn and skips over the environment.'
      : 'Credit starts afresh at each turn’s end, so none leaks into the tool’s text.';
  }
  if (skips) return 'Credit skips over the environment.';
  if (decays(c)) return 'Credit leaks away while passing through the tool’s text.';
  return `Credit passes through the tool’s text undiminished, since γ ${usesCritic(c.estimator) ? 'and λ are' : 'is'} 1.`;
}

function counted(c: RunConfig): string {
  const skips = agentOnly(c, 'advantageTokens');
  const facts: string[] = [];
  if (whitens(c) && !agentOnly(c, 'whitenTokens')) facts.push('whitening counts them');
  if (usesCritic(c.estimator) && !agentOnly(c, 'valueTokens'))
    facts.push(`the critic is taught ${skips ? '0 ' : ''}there`);
  if (c.klRewardCoef > 0 && !agentOnly(c, 'klRewardTokens') && !skips) facts.push('KL is paid there');
  return facts.length > 0 ? `The tool’s words still matter: ${facts.join(', ')}.` : '';
}

function regularized(c: RunConfig): string {
  if (agentOnly(c, 'regularizerTokens')) return '';
  const terms = [...(c.entropyCoef > 0 ? ['entropy bonus'] : []), ...(c.klCoef > 0 ? ['KL loss'] : [])];
  if (terms.length === 0) return '';
  return `The ${terms.join(' and the ')} ${terms.length > 1 ? 'act' : 'acts'} on text the agent did not write.`;
}

function undecided(c: RunConfig): string {
  return c.choiceMask === 'on' ? 'Words that the grammar left no choice about count nowhere.' : '';
}

function paid(c: RunConfig): string {
  if (c.rewardOnLastAction === 'on') return '';
  return agentOnly(c, 'advantageTokens') ? 'A reward paid on an observation is dropped.' : '';
}
