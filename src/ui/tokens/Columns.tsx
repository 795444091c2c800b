import { type CSSProperties, type KeyboardEvent, type ReactNode, useRef } from 'react';
import type { BatchView } from '../../domain/batch.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import type { Rollout } from '../../page/rollout/readRollout.ts';
import { spansFrom, TurnWords } from './RolloutWords.tsx';
import './columns.css';

export interface RolloutColumn {
  readonly key: string;
  readonly label: string;
  readonly batch: BatchView;
  readonly episode: EpisodeView;
  readonly rollout: Rollout;
}

interface Props {
  readonly columns: readonly RolloutColumn[];
  readonly sharedLength: number; // number of tokens that all rollouts begin with; left out of the cells
  readonly selected: { readonly key: string; readonly turn: number | null };
  readonly choose: (column: RolloutColumn, turn: number) => void;
  readonly renderHead: (column: RolloutColumn) => ReactNode;
}

/** Rollouts are aligned by turn. One tab stop; arrow keys move between turns (up, down) and rollouts (left, right). */
export function Columns({ columns, sharedLength, selected, choose, renderHead }: Props) {
  const grid = useRef<HTMLDivElement>(null);
  const turns = [...new Set(columns.flatMap(({ rollout }) => rollout.turns.map(({ turn }) => turn)))]
    .filter((turn) => turn > 0)
    .sort((a, b) => a - b);
  const onKey = (event: KeyboardEvent) => {
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const cellText = event.target instanceof HTMLElement ? event.target.dataset['cell'] : undefined;
    if (!direction || cellText === undefined) return;
    const [c = 0, t = 0] = cellText.split(' ').map(Number);
    const cell = grid.current?.querySelector(`[data-cell="${c + (direction[0] ?? 0)} ${t + (direction[1] ?? 0)}"]`);
    event.preventDefault();
    if (!(cell instanceof HTMLElement)) return;
    cell.focus();
    cell.click();
  };
  // if no turn was chosen, the last one is current
  const current = selected.turn ?? turns.at(-1) ?? 0;
  return (
    <div
      className="columns grid scroll"
      ref={grid}
      role="toolbar"
      aria-label="Rollouts, turn by turn; arrow keys move"
      tabIndex={-1}
      onKeyDown={onKey}
      style={{ '--rows': turns.length + 1 } as CSSProperties}
    >
      {columns.map((column, c) => {
        const last = column.rollout.turns.at(-1)?.turn ?? 0;
        return (
          <article
            key={column.key}
            className="card column"
            aria-label={column.label}
            data-chosen={column.key === selected.key}
          >
            <header>{renderHead(column)}</header>
            {turns.map((turn) => (
              <Cell
                key={turn}
                {...{ column, sharedLength, turn }}
                cellKey={`${c} ${turn}`}
                isTabStop={column.key === selected.key && turn === Math.min(current, last)}
                onChoose={() => choose(column, turn)}
              />
            ))}
          </article>
        );
      })}
    </div>
  );
}

interface CellProps {
  readonly column: RolloutColumn;
  readonly sharedLength: number;
  readonly turn: number;
  readonly cellKey: string;
  readonly isTabStop: boolean; // the tab stop
  readonly onChoose: () => void;
}

function Cell({ column: { label, rollout }, sharedLength, turn, cellKey, isTabStop, onChoose }: CellProps) {
  const spans = spansFrom(rollout, turn, sharedLength);
  if (spans.length === 0) return <div className="cell empty-cell" aria-hidden="true" />;
  return (
    <button
      type="button"
      className="cell"
      data-cell={cellKey}
      tabIndex={isTabStop ? 0 : -1}
      aria-pressed={isTabStop}
      onClick={onChoose}
    >
      <span className="cell-turn">
        <span className="visually-hidden">{label}, </span>turn {turn}
      </span>
      <TurnWords rollout={rollout} spans={spans} divergence={sharedLength} />
    </button>
  );
}
