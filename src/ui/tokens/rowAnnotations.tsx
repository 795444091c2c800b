import type { RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import { contextText } from '../../page/rollout/contextText.ts';
import { ROUNDING_ERROR, signedReward } from '../../page/words/numberText.ts';
import { RewardChip } from '../parts/RewardChip.tsx';
import { isPredicted } from '../../page/rollout/channels.ts';
import { PART_DOCS, PART_LABELS, partsOfToken } from '../../page/rollout/rewardParts.ts';
import type { TokenAnnotations } from './TokenView.tsx';

interface AnnotatedRow {
  readonly batch: BatchView;
  readonly row: number;
  readonly length: number; // tokens of the row
  readonly stopText: string | null; // how the rollout ended, in words
  readonly config?: RunConfig | null; // says which turns a context shows again; without it no context is described
  readonly isRecording?: boolean; // a recording: also says that the environment wrote the observations
}

export function rowAnnotations({
  batch,
  row,
  length,
  stopText,
  config = null,
  isRecording = false,
}: AnnotatedRow): TokenAnnotations {
  const rowStart = row * batch.length;
  return {
    heading: 'h3',
    chip: ({ spans }) => {
      const tokens = spans.flatMap((span) => span.tokens).map((t) => rowStart + t);
      const reward = tokens.reduce((sum, i) => sum + (batch.rewards[i] ?? 0), 0);
      return (
        Math.abs(reward) > ROUNDING_ERROR && (
          <RewardChip amount={reward} title={`Reward paid in this turn\n${partDocs(batch, tokens)}`}>
            {signedReward(reward)}
          </RewardChip>
        )
      );
    },
    below: ({ turn, spans }) => {
      const last = turn > 0 && spans.at(-1)?.tokens.at(-1) === length - 1;
      return last && stopText !== null && <p className="small stop faint">{stopText}</p>;
    },
    note: ({ kind, tokens: [first = 0, ...rest] }) => {
      const start = batch.contextStarts?.[rowStart + first] ?? 0;
      if (kind === 'prompt')
        return (
          config !== null &&
          start > 0 &&
          start === first && (
            <span className="not-trained">{contextText(config, batch.turns[rowStart + first] ?? 0)}</span>
          )
        );
      const tokens = [first, ...rest];
      return (
        tokens.every((t) => batch.lossMask[rowStart + t] === 0) && (
          <span className="not-trained">
            {isRecording && kind === 'observation' && <span className="who-wrote">the environment wrote this, </span>}
            {tokens.some((t) => isPredicted(batch, rowStart + t)) ? 'learned as a prediction' : 'not trained'}
          </span>
        )
      );
    },
  };
}

/** The parts of the reward at some tokens (flat indices of the batch), each with the reason why it is paid. */
function partDocs(batch: BatchView, tokens: readonly number[]): string {
  const found = new Set(tokens.flatMap((i) => partsOfToken(batch, i)).map(({ part }) => part));
  return [...found].map((part) => `${PART_LABELS[part]}: ${PART_DOCS[part]}`).join('\n');
}
