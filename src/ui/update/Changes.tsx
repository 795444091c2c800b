import type { CSSProperties } from 'react';
import { counted } from '../parts/countText.ts';
import { arrow, change as delta, probability } from '../parts/numberText.ts';
import { type BatchSource, wordOf } from '../run/inspect.ts';
import { KINDS } from '../rollout/kinds.ts';
import { live } from '../run/liveStore.ts';
import { readRollout } from '../rollout/readRollout.ts';
import { useSelection } from '../shell/selectionStore.ts';
import type { Change } from './changes.ts';
import { rolloutName } from './rolloutNames.ts';

/** The tokens whose probability an update changed most; a click chooses one, here and on every other screen. */
export function Changes({ source, changes }: { readonly source: BatchSource; readonly changes: readonly Change[] }) {
  const most = Math.max(1e-9, ...changes.map(({ before, after }) => Math.abs(after - before)));
  return (
    <ol className="changes" data-testid="changes">
      {changes.map((change) => (
        <ChangeRow key={`${change.row} ${change.t}`} {...{ source, change, most }} />
      ))}
    </ol>
  );
}

interface RowProps {
  readonly source: BatchSource;
  readonly change: Change;
  readonly most: number; // the largest change of the list
}

function ChangeRow({ source: { batch, config }, change: { row, t, before, after, alike }, most }: RowProps) {
  const chosen = useSelection((s) => s.row === row && s.token === t);
  const i = row * batch.length + t;
  const word = wordOf({ batch, row, config }, batch.tokens[i] ?? 0);
  const kind = readRollout(batch, live.vocabulary, row).kinds[t] ?? 'call';
  const turn = batch.turns[i] ?? 0;
  const up = after >= before;
  return (
    <li>
      <button
        type="button"
        className="change"
        aria-pressed={chosen}
        data-row={row}
        data-position={t}
        data-sign={up ? 'up' : 'down'}
        style={{ '--share': (Math.abs(after - before) / most).toFixed(3) } as CSSProperties}
        onClick={() => useSelection.setState({ row, token: t, turn, revealed: null, branch: null })}
      >
        <span className="change-word" data-kind={kind}>
          <b className="tag" aria-hidden="true">
            {KINDS[kind].letter}
          </b>
          <span className="word">{word}</span>
        </span>
        <span className="small change-where faint">
          {rolloutName(batch, row)}, turn {turn}
          {alike > 1 && ` · same change in ${counted(alike - 1, 'more rollout')}`}
        </span>
        <span className="small mono change-p">
          {probability(before)} → {probability(after)}
        </span>
        <span className="number strong change-delta">
          {arrow(after - before)} {delta(after - before)}
        </span>
        <span className="visually-hidden">, {KINDS[kind].label}</span>
        <span className="change-bar" aria-hidden="true" />
      </button>
    </li>
  );
}
