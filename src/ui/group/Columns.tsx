import { type CSSProperties, type KeyboardEvent, type ReactNode, useRef } from 'react';
import type { BatchView } from '../../domain/batch.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import { KINDS } from '../rollout/kinds.ts';
import { whole } from '../parts/numberText.ts';
import { type Rollout, textOf } from '../rollout/readRollout.ts';

/** A rollout shown as a column. */
export interface Column {
  readonly key: string;
  readonly label: string;
  readonly batch: BatchView;
  readonly episode: EpisodeView;
  readonly rollout: Rollout;
}

interface Props {
  readonly columns: readonly Column[];
  readonly shared: number; // number of tokens that all rollouts begin with; left out of the cells
  readonly chosen: { readonly key: string; readonly turn: number | null };
  readonly choose: (column: Column, turn: number) => void;
  readonly head: (column: Column) => ReactNode;
}

/**
 * Rollouts side by side, aligned by turn. One tab stop; arrow keys move between turns (up, down) and rollouts (left,
 * right).
 */
export function Columns({ columns, shared, chosen, choose, head }: Props) {
  const grid = useRef<HTMLDivElement>(null);
  const turns = [...new Set(columns.flatMap(({ rollout }) => rollout.turns.map(({ turn }) => turn)))]
    .filter((turn) => turn > 0)
    .sort((a, b) => a - b);
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const at = event.target instanceof HTMLElement ? event.target.dataset['cell'] : undefined;
    if (!by || at === undefined) return;
    const [c = 0, t = 0] = at.split(' ').map(Number);
    const cell = grid.current?.querySelector(`[data-cell="${c + (by[0] ?? 0)} ${t + (by[1] ?? 0)}"]`);
    event.preventDefault();
    if (!(cell instanceof HTMLElement)) return;
    cell.focus();
    cell.click();
  };
  // if no turn was chosen, the last one is current
  const current = chosen.turn ?? turns.at(-1) ?? 0;
  return (
    <div
      className="columns"
      ref={grid}
      role="toolbar"
      aria-label="Rollouts, turn by turn; arrow keys move"
      tabIndex={-1}
      onKeyDown={onKey}
      style={{ '--columns': columns.length, '--rows': turns.length + 1 } as CSSProperties}
    >
      {columns.map((column, c) => {
        const last = column.rollout.turns.at(-1)?.turn ?? 0;
        return (
          <article
            key={column.key}
            className="card column"
            aria-label={column.label}
            data-chosen={column.key === chosen.key}
          >
            <header>{head(column)}</header>
            {turns.map((turn) => (
              <Cell
                key={turn}
                {...{ column, shared, turn }}
                place={`${c} ${turn}`}
                stop={column.key === chosen.key && turn === Math.min(current, last)}
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
  readonly column: Column;
  readonly shared: number;
  readonly turn: number;
  readonly place: string;
  readonly stop: boolean; // the tab stop
  readonly onChoose: () => void;
}

function Cell({ column: { label, rollout }, shared, turn, place, stop, onChoose }: CellProps) {
  const spans = (rollout.turns.find((each) => each.turn === turn)?.spans ?? [])
    .map(({ kind, tokens }) => ({ kind, tokens: tokens.filter((t) => t >= shared) }))
    .filter(({ tokens }) => tokens.length > 0);
  if (spans.length === 0) return <div className="cell empty-cell" aria-hidden="true" />;
  return (
    <button
      type="button"
      className="cell"
      data-cell={place}
      tabIndex={stop ? 0 : -1}
      aria-pressed={stop}
      onClick={onChoose}
    >
      <span className="cell-turn">
        <span className="visually-hidden">{label}, </span>turn {turn}
      </span>
      {spans.map((span, i) => (
        <span key={i} className="cell-span" data-kind={span.kind}>
          <b
            className="tag"
            aria-hidden="true"
            data-diverges={rollout.tags[shared] === true && span.tokens.includes(shared)}
          >
            {KINDS[span.kind].letter}
          </b>
          <span className="visually-hidden">{KINDS[span.kind].label}</span>
          {span.tokens
            .filter((t) => !rollout.tags[t])
            .map((t) => (
              <span key={t} className="word" data-diverges={t === shared}>
                {rollout.words[t]}
              </span>
            ))}
        </span>
      ))}
    </button>
  );
}

/** Number of shared tokens shown of a text. Its prompt is long and the same for all rollouts. */
const MAX_SHARED_SHOWN = 60;

/** The tokens that all rollouts begin with. Of a long text only the last ones. */
export function Beginning({ rollout, shared }: { readonly rollout: Rollout; readonly shared: number }) {
  const { words, kinds, writing } = rollout;
  if (writing === 'bytes') {
    const tokens = Array.from(
      { length: Math.min(shared, MAX_SHARED_SHOWN) },
      (_, i) => Math.max(0, shared - MAX_SHARED_SHOWN) + i,
    );
    return (
      <span className="mono">
        {shared > MAX_SHARED_SHOWN && `${whole(shared - MAX_SHARED_SHOWN)} tokens … `}
        {textOf(rollout, tokens)}
      </span>
    );
  }
  return words.slice(0, shared).map((word, t) => (
    <span key={t} className="word" data-kind={kinds[t]}>
      {word}
    </span>
  ));
}
