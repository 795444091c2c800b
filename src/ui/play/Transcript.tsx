import { useMemo } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { PlayedEpisode } from '../../domain/playedTask.ts';
import { RewardChip } from '../parts/RewardChip.tsx';
import { signedNumber } from '../../page/words/numberText.ts';
import { PART_LABELS, partsOfEpisode } from '../../page/rollout/rewardParts.ts';
import { readTokens } from '../../page/rollout/readRollout.ts';
import { trainedLook } from '../../page/rollout/trainedLook.ts';
import { type TokenAnnotations, TokenView } from '../tokens/TokenView.tsx';

interface Props {
  readonly played: PlayedEpisode;
  readonly vocabulary: readonly string[];
  readonly config: RunConfig;
}

/** An episode turn by turn: who wrote what, whether it would be trained, and the reward of each turn. */
export function Transcript({ played, vocabulary, config }: Props) {
  const rollout = useMemo(() => readTokens(played, vocabulary), [played, vocabulary]);
  const looks = useMemo(() => {
    const look = trainedLook(rollout, config);
    return () => look;
  }, [rollout, config]);
  const annotations = useMemo(
    (): TokenAnnotations => ({
      heading: 'h3',
      showAll: true,
      below: ({ turn }) => <TurnReward played={played} turn={turn} />,
    }),
    [played],
  );
  const { turns, writing } = rollout;
  return <TokenView className="transcript" layout={writing} channel={null} {...{ turns, looks, annotations }} />;
}

function TurnReward({ played, turn }: { readonly played: PlayedEpisode; readonly turn: number }) {
  const turnReward = played.finishedTurns.find((entry) => entry.turn === turn);
  if (!turnReward) return null;
  const parts = partsOfEpisode(turnReward);
  if (parts.length === 0 && turnReward.valid) return null;
  return (
    <p className="row small paid">
      {!turnReward.valid && <span>malformed </span>}
      {parts.map(({ part, amount }) => (
        <RewardChip key={part} amount={amount}>
          {PART_LABELS[part]} {signedNumber(amount)}
        </RewardChip>
      ))}
    </p>
  );
}
