import type { EpisodeView } from '../../domain/episode.ts';
import { signedNumber } from '../parts/numberText.ts';
import { PART_DOCS, PART_LABELS, partsOfEpisode } from './rewardParts.ts';

interface Props {
  readonly episode: Pick<EpisodeView, 'parts'>;
  // the styles around it scale the bar's length to the reward, so even a single part gets a bar; by default a bar shows
  // only the shares of several parts
  readonly toScale?: boolean;
}

/** The parts of an episode's reward, as a bar and in words. */
export function RewardSplit({ episode, toScale = false }: Props) {
  const parts = partsOfEpisode(episode);
  if (parts.length === 0) return null;
  const whole = parts.reduce((sum, { amount }) => sum + Math.abs(amount), 0);
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
        <span key={part} className="split-part" title={PART_DOCS[part]}>
          {PART_LABELS[part]} <b>{signedNumber(amount)}</b>
        </span>
      ))}
    </p>
  );
}
