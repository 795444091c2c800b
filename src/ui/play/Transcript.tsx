import { useMemo } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { PlayedEpisode } from '../../domain/playedTask.ts';
import { RewardChip } from '../parts/RewardChip.tsx';
import { signed } from '../parts/numberText.ts';
import { KINDS } from '../rollout/kinds.ts';
import { agentOnly } from '../../config/masks.ts';
import { PART_LABELS, partsOfEpisode } from '../rollout/rewardParts.ts';
import { PlainToken } from '../rollout/PlainToken.tsx';
import { readTokens } from '../rollout/readRollout.ts';
import { SpanLabel } from '../rollout/SpanLabel.tsx';
import { SpanTokens } from '../rollout/SpanTokens.tsx';

interface Props {
  readonly played: PlayedEpisode;
  readonly vocabulary: readonly string[];
  readonly config: RunConfig;
}

/** An episode turn by turn: who wrote what, whether it would be trained, and what each turn was paid. */
export function Transcript({ played, vocabulary, config }: Props) {
  const { words, tags, turns, writing } = useMemo(() => readTokens(played, vocabulary), [played, vocabulary]);
  const toolTrained = !agentOnly(config, 'policyTokens');
  return (
    <ol className="transcript">
      {turns.map(({ turn, spans }) => (
        <li key={turn} className="turn">
          <div className="turn-title">
            <h3>{turn === 0 ? 'Prompt' : `Turn ${turn}`}</h3>
          </div>
          <div className="turn-spans">
            {spans.map(({ kind, tokens }, i) => {
              const trained = kind === 'observation' ? toolTrained : kind !== 'prompt';
              return (
                <div key={i} className="span" data-kind={kind}>
                  <SpanLabel of={KINDS[kind]} />
                  <SpanTokens writing={writing}>
                    {tokens.map((t) => (
                      <PlainToken key={t} word={words[t] ?? ''} kind={kind} tag={tags[t] ?? false} trained={trained} />
                    ))}
                  </SpanTokens>
                </div>
              );
            })}
            <Paid played={played} turn={turn} />
          </div>
        </li>
      ))}
    </ol>
  );
}

function Paid({ played, turn }: { readonly played: PlayedEpisode; readonly turn: number }) {
  const paid = played.paid.find((entry) => entry.turn === turn);
  if (!paid) return null;
  const parts = partsOfEpisode(paid);
  if (parts.length === 0 && paid.valid) return null;
  return (
    <p className="row small paid">
      {!paid.valid && <span>malformed </span>}
      {parts.map(({ part, amount }) => (
        <RewardChip key={part} amount={amount}>
          {PART_LABELS[part]} {signed(amount)}
        </RewardChip>
      ))}
    </p>
  );
}
