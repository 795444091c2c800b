import type { BatchView } from '../../domain/batch.ts';
import { paid } from '../parts/numberText.ts';
import { RewardChip } from '../parts/RewardChip.tsx';
import type { TokenAnnotations } from './TokenView.tsx';

interface Row {
  readonly batch: BatchView;
  readonly row: number;
  readonly length: number; // tokens of the row
  readonly stop: string | null; // how the rollout ended, in words
  readonly isExample?: boolean; // a recording: also says that the environment wrote the observations
}

/**
 * Annotations for the tokens of a trained row: rewards per turn, which spans aren't trained, and how the rollout ended.
 */
export function rowAnnotations({ batch, row, length, stop, isExample = false }: Row): TokenAnnotations {
  const from = row * batch.length;
  return {
    heading: 'h3',
    chip: ({ spans }) => {
      const reward = spans.flatMap(({ tokens }) => tokens).reduce((sum, t) => sum + (batch.rewards[from + t] ?? 0), 0);
      return (
        reward !== 0 && (
          <RewardChip amount={reward} title="Reward paid in this turn">
            {paid(reward)}
          </RewardChip>
        )
      );
    },
    below: ({ turn, spans }) => {
      const last = turn > 0 && spans.at(-1)?.tokens.at(-1) === length - 1;
      return last && stop !== null && <p className="small stop faint">{stop}</p>;
    },
    note: ({ kind, tokens }) =>
      kind !== 'prompt' &&
      tokens.every((t) => batch.lossMask[from + t] === 0) && (
        <span className="not-trained">
          {isExample && kind === 'observation' && <span className="who-wrote">the environment wrote this, </span>}
          not trained
        </span>
      ),
  };
}
