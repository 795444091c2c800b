import type { EpisodeView } from '../../domain/episode.ts';
import { signedNumber } from '../../page/words/numberText.ts';
import { PART_DOCS, PART_LABELS, partsOfEpisode } from '../../page/rollout/rewardParts.ts';

interface Props {
  readonly episode: Pick<EpisodeView, 'parts'> & Partial<Pick<EpisodeView, 'view'>>;
  // the styles around it scale the bar's length to the reward, so even a single part gets a bar; by default a bar shows
  // only the shares of several parts
  readonly toScale?: boolean;
}

export function RewardSplit({ episode, toScale = false }: Props) {
  const classParts = classPartsText(episode.view);
  const nonZeroParts = partsOfEpisode(episode);
  const isZeroOutcome = classParts !== '' && !nonZeroParts.some(({ part }) => part === 'outcome');
  const parts = [...(isZeroOutcome ? [{ part: 'outcome', amount: 0 } as const] : []), ...nonZeroParts];
  if (parts.length === 0) return null;
  const whole = parts.reduce((sum, { amount }) => sum + Math.abs(amount), 0) || 1;
  return (
    <p className="row small soft reward-split" data-testid="reward-split">
      {(toScale || parts.length > 1) && (
        <span className="split-bar" aria-hidden="true">
          {parts.map(({ part, amount }) => (
            <span key={part} data-part={part} data-taken={amount < 0} style={{ flexGrow: Math.abs(amount) / whole }} />
          ))}
        </span>
      )}
      {parts.map(({ part, amount }) => (
        <span
          key={part}
          className="split-part"
          title={part === 'outcome' && classParts ? 'getReward(): each part times its weight' : PART_DOCS[part]}
        >
          {PART_LABELS[part]} <b>{signedNumber(amount)}</b>
          {part === 'outcome' && classParts}
        </span>
      ))}
    </p>
  );
}

/** The parts of the outcome that a person's class names, before their weights: “ (solved +1, quick +0.33)”. */
export function classPartsText(view: EpisodeView['view'] | undefined): string {
  const parts = Object.entries(view?.kind === 'calls' ? (view.earned ?? {}) : {});
  return parts.length === 0 ? '' : ` (${parts.map(([name, value]) => `${name} ${signedNumber(value)}`).join(', ')})`;
}
