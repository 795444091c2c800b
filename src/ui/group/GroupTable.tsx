import { type KeyboardEvent, useRef } from 'react';
import { REWARD_PARTS, type EpisodeView } from '../../domain/episode.ts';
import { exactNumber, signedNumber } from '../../page/words/numberText.ts';
import { Icon } from '../parts/Icon.tsx';
import { STOP_TEXTS } from '../../page/rollout/kinds.ts';
import type { Rollout } from '../../page/rollout/readRollout.ts';
import { PART_DOCS, PART_LABELS, partsOfEpisode } from '../../page/rollout/rewardParts.ts';
import { classPartsText } from '../parts/RewardSplit.tsx';
import { spansFrom, TurnWords } from '../tokens/RolloutWords.tsx';

const MAX_TOKENS = 60; // of a row; the chosen rollout is shown whole below the table

export interface GroupRow {
  readonly episode: EpisodeView;
  readonly rollout: Rollout;
  readonly advantage: number | null; // that training used, the mean over its tokens; null if no token carries one
  readonly compared: number | null; // with another estimator; null if none is compared
}

interface Props {
  readonly rows: readonly GroupRow[];
  readonly shared: number; // number of tokens that all rollouts begin with; left out of the rows
  readonly chosen: { readonly row: number; readonly turn: number | null };
  readonly comparisonName: string | null; // of the column with `compared`
  readonly choose: (row: GroupRow, turn: number | null) => void;
}

/**
 * The rollouts of a group, one a row, each from the first token at which they differ. One tab stop; arrow keys move
 * between rollouts (up, down) and turns (left, right).
 */
export function GroupTable({ rows, shared, chosen, comparisonName, choose }: Props) {
  const body = useRef<HTMLTableSectionElement>(null);
  const parts = REWARD_PARTS.filter((part) =>
    rows.some(({ episode }) => partsOfEpisode(episode).some((each) => each.part === part)),
  );
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const place = event.target instanceof HTMLElement ? event.target.dataset['place'] : undefined;
    if (!step || place === undefined) return;
    event.preventDefault();
    const [row = 0, part = 0] = place.split(' ').map(Number);
    const buttons = body.current?.rows[row + (step[0] ?? 0)]?.querySelectorAll<HTMLElement>('[data-place]') ?? [];
    const next = step[1] === 0 ? buttons[Math.min(part, buttons.length - 1)] : buttons[part + (step[1] ?? 0)];
    next?.focus();
    next?.click();
  };
  return (
    <table className="group-table" aria-label="Rollouts of this task; arrow keys move">
      <thead>
        <tr className="small faint">
          <th scope="col">Rollout</th>
          <th scope="col">Score</th>
          {parts.map((part) => (
            <th key={part} scope="col" title={PART_DOCS[part]}>
              {PART_LABELS[part]}
            </th>
          ))}
          <th scope="col" title="As training used it: the mean over the rollout’s tokens">
            Advantage
          </th>
          {comparisonName !== null && <th scope="col">{comparisonName}</th>}
          <th scope="col" className="group-words">
            From the first token that differs
          </th>
        </tr>
      </thead>
      <tbody ref={body}>
        {rows.map((row, i) => (
          <tr key={row.episode.row} data-chosen={row.episode.row === chosen.row}>
            <th scope="row">
              <button type="button" className="quiet small" tabIndex={-1} onClick={() => choose(row, null)}>
                <Icon name={row.episode.success ? 'check' : 'cross'} />
                <span className="visually-hidden">Rollout</span> {i + 1}
                <span className="visually-hidden">{row.episode.success ? ', solved' : ', not solved'}</span>
              </button>
            </th>
            <td data-label="score" data-testid="group-score">
              {exactNumber(row.episode.reward)}
            </td>
            {parts.map((part) => (
              <td key={part} data-label={PART_LABELS[part]}>
                {row.episode.parts[part] === 0 ? '·' : signedNumber(row.episode.parts[part])}
                {part === 'outcome' && <span className="faint">{classPartsText(row.episode.view)}</span>}
              </td>
            ))}
            <td data-label="advantage" data-testid="group-advantage" data-sign={Math.sign(row.advantage ?? 0)}>
              {row.advantage === null ? <span className="faint">not trained</span> : plusMinus(row.advantage)}
            </td>
            {comparisonName !== null && (
              <td data-label={comparisonName} data-testid="group-compared" className="soft">
                {plusMinus(row.compared ?? 0)}
              </td>
            )}
            <td className="group-words">
              <Continuation {...{ row, shared, chosen, choose, onKey }} index={i} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A number with its sign, with enough digits to check it. */
const plusMinus = (value: number) => `${value > 0 ? '+' : ''}${exactNumber(value)}`;

interface ContinuationProps extends Pick<Props, 'shared' | 'chosen' | 'choose'> {
  readonly row: GroupRow;
  readonly index: number; // of the row in the table
  readonly onKey: (event: KeyboardEvent) => void;
}

function Continuation({ row, shared, chosen, choose, index, onKey }: ContinuationProps) {
  const { rollout, episode } = row;
  const end = shared + MAX_TOKENS;
  const turns = rollout.turns
    .map(({ turn }) => ({ turn, spans: spansFrom(rollout, turn, shared, end) }))
    .filter(({ spans }) => spans.length > 0);
  const isChosenRow = episode.row === chosen.row;
  const lastTurn = turns.at(-1)?.turn ?? null;
  const currentTurn = turns.some(({ turn }) => turn === chosen.turn) ? chosen.turn : lastTurn;
  const shown = turns.length > 0 ? turns : [{ turn: null, spans: [] }];
  return (
    <div className="group-turns flex on-baseline">
      {shown.map(({ turn, spans }, part) => (
        <button
          key={turn ?? 0}
          type="button"
          className="group-turn"
          data-place={`${index} ${part}`}
          tabIndex={isChosenRow && turn === currentTurn ? 0 : -1}
          aria-pressed={isChosenRow && turn === currentTurn}
          onClick={() => choose(row, turn)}
          onKeyDown={onKey}
        >
          <span className="visually-hidden">
            Rollout {index + 1}, {turn === null ? 'ends here' : `turn ${turn}`}
          </span>
          <TurnWords rollout={rollout} spans={spans} divergence={shared} />
        </button>
      ))}
      <span className="small faint">
        {rollout.words.length > end ? '… ' : ''}
        {STOP_TEXTS[episode.stop]}
      </span>
    </div>
  );
}
