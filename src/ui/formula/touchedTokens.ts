import type { RunConfig } from '../../config/fields.ts';
import type { TokenSet } from '../../config/formulaTerms.ts';
import { agentOnly, type Place } from '../../config/masks.ts';
import { usesCritic } from '../../config/estimators.ts';
import type { BatchView } from '../../domain/batch.ts';
import { learnedGroups, responseMask, turnEnds } from '../../domain/tokenMasks.ts';
import { passesOf } from '../rollout/push.ts';
import { isClipped } from '../rollout/channels.ts';
import { Mark } from './mark.ts';

/** The batch in which tokens are marked, and everything that the marks depend on. */
export interface Scene {
  readonly batch: BatchView;
  readonly config: RunConfig; // it determines the masks
  readonly row: number; // the row on screen
}

/** The marks of a set of tokens, (B,T). They follow the trainer's masks and, for clipping, the kept epochs. */
export function touched({ batch, config, row }: Scene, set: TokenSet): Uint8Array {
  const groups = learnedGroups(batch);
  const leftOut = config.choiceMask === 'on' ? batch.singles : undefined;
  const mask = (place: Place) => responseMask(batch, groups, agentOnly(config, place), leftOut);
  const response = () => responseMask(batch, groups, false);
  const scored = () => responseMask(batch, groups, agentOnly(config, 'advantageTokens'));
  const where = (mask: ArrayLike<number>, is: (i: number) => boolean = () => true) =>
    Uint8Array.from(mask, (m, i) => (m !== 0 && is(i) ? Mark.touched : Mark.none));
  switch (set) {
    case 'paid':
      return where(batch.rewards);
    case 'klReward':
      return where(mask('klRewardTokens'));
    case 'advantage':
      return where(mask('advantageTokens'));
    case 'scored':
      return where(scored());
    case 'group': {
      const group = batch.episodes.find((episode) => episode.row === row)?.group;
      return where(scored(), (i) => groups[Math.floor(i / batch.length)] === group);
    }
    case 'turnEnds':
      return where(turnEnds(batch, mask('advantageTokens')));
    case 'whiten':
      return where(mask('whitenTokens'));
    case 'outside': {
      const inside = mask('advantageTokens');
      return where(response(), (i) => inside[i] === 0);
    }
    case 'kept':
      return where(response());
    case 'policy':
      return where(mask('policyTokens'));
    case 'negative':
      return where(mask('policyTokens'), (i) => (batch.advantages[i] ?? 0) < 0);
    case 'clippedLow':
    case 'clippedHigh':
      return clippedMarks(batch, set);
    case 'regularizer':
      return where(mask('regularizerTokens'));
    case 'value':
      return where(usesCritic(config.estimator) ? mask('valueTokens') : new Float32Array(groups.length * batch.length));
  }
}

function clippedMarks(batch: BatchView, which: 'clippedLow' | 'clippedHigh'): Uint8Array {
  const passes = passesOf(batch);
  return Uint8Array.from(batch.roles, (_, i) => {
    const rose = (batch.advantages[i] ?? 0) > 0;
    if (which === (rose ? 'clippedLow' : 'clippedHigh')) return Mark.none;
    const clipped = passes.some(({ policyWeights }) => isClipped({ ...batch, policyWeights }, i));
    return clipped ? (rose ? Mark.rose : Mark.fell) : Mark.none;
  });
}

/** The combined marks of several sets. If several sets touch a token, a mark for clipping takes precedence. */
export function touchedByAny(scene: Scene, sets: readonly TokenSet[]): Uint8Array {
  const all = new Uint8Array(scene.batch.roles.length);
  for (const set of new Set(sets)) {
    touched(scene, set).forEach((mark, i) => (all[i] = Math.max(all[i]!, mark)));
  }
  return all;
}
