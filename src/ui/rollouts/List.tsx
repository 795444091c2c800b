import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { count, shortNumber } from '../../page/words/numberText.ts';
import { table, useRollouts } from '../../page/files/rolloutFileStore.ts';

const ROW_HEIGHT = 28; // px
const EXTRA_ROWS = 12; // drawn beyond either edge of the view
const MAX_ROWS = 1_000_000; // browsers can't draw an element that is much taller

/** The list of rollouts. It draws only the lines in view, so a million rollouts scroll as fast as a hundred. */
export function List({ list }: { readonly list: Int32Array }) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const chosen = useRollouts((s) => s.row);
  const rows = Math.min(MAX_ROWS, list.length);
  useEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(([entry]) =>
      setView((before) => ({ ...before, height: entry?.contentRect.height ?? before.height })),
    );
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useStillList(list, box, view.top);
  const first = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - EXTRA_ROWS);
  const last = Math.min(rows, Math.ceil((view.top + view.height) / ROW_HEIGHT) + EXTRA_ROWS);
  const onKey = (event: KeyboardEvent) => {
    const to = keyTarget(event.key, list, chosen, Math.max(1, Math.floor(view.height / ROW_HEIGHT) - 1));
    const row = list[to ?? -1];
    if (to === null || row === undefined || !box.current) return;
    event.preventDefault();
    useRollouts.setState({ row });
    const above = to * ROW_HEIGHT < box.current.scrollTop;
    const below = (to + 1) * ROW_HEIGHT > box.current.scrollTop + view.height;
    if (above) box.current.scrollTop = to * ROW_HEIGHT;
    if (below) box.current.scrollTop = (to + 1) * ROW_HEIGHT - view.height;
  };
  return (
    <>
      <div className="list-line list-head small soft" aria-hidden="true">
        <span>step</span>
        <span>group</span>
        <span>reward</span>
        <span />
        <span>turns</span>
        <span>calls</span>
        <span>length</span>
      </div>
      <div
        className="list fill low scrolls"
        ref={box}
        role="listbox"
        aria-label="Rollouts; arrow keys move"
        tabIndex={0}
        aria-activedescendant={chosen === null ? undefined : `rollout-${chosen}`}
        onKeyDown={onKey}
        onClick={onPress}
        onScroll={({ currentTarget }) => setView((before) => ({ ...before, top: currentTarget.scrollTop }))}
      >
        <div className="list-all" role="presentation" style={{ '--rows': rows } as CSSProperties}>
          {Array.from(list.subarray(first, last), (row, i) => (
            <Line key={row} row={row} listIndex={first + i} listedRows={rows} chosen={row === chosen} />
          ))}
        </div>
      </div>
      {list.length === 0 && table.rows > 0 && <p className="empty">No matches.</p>}
      {list.length > MAX_ROWS && (
        <p className="faint small">The first {count(MAX_ROWS)} are listed. Use the filter to see others.</p>
      )}
    </>
  );
}

/** Keeps the lines in view where they are if rollouts arrive above them. At the top of the list the new ones are shown. */
function useStillList(list: Int32Array, box: RefObject<HTMLDivElement | null>, top: number): void {
  const order = useRollouts((s) => s.order);
  const filter = useRollouts((s) => s.filter);
  const drawn = useRef({ list, order, filter });
  useLayoutEffect(() => {
    const before = drawn.current;
    drawn.current = { list, order, filter };
    const index = Math.floor(top / ROW_HEIGHT);
    const row = before.list[index];
    const hasGrown = before.list !== list && before.order === order && before.filter === filter;
    if (!hasGrown || top === 0 || row === undefined || !box.current) return;
    const at = list.indexOf(row);
    if (at >= 0 && at !== index) box.current.scrollBy({ top: (at - index) * ROW_HEIGHT, behavior: 'instant' });
  }, [list, order, filter, box, top]);
}

/** Chooses the line that was pressed. The list handles focus, keys and presses for all its lines. */
function onPress({ target }: MouseEvent): void {
  const line = target instanceof Element ? target.closest('[data-row]') : null;
  if (!(line instanceof HTMLElement)) return;
  const row = Number(line.dataset['row']);
  useRollouts.setState(({ look }) => ({ row, look: look === 'steps' ? 'rollout' : look }));
}

/** The position in the list that a key moves to from the chosen row; null for other keys. */
function keyTarget(key: string, list: Int32Array, chosen: number | null, page: number): number | null {
  const at = chosen === null ? -1 : list.indexOf(chosen);
  const last = Math.min(MAX_ROWS, list.length) - 1;
  const to = new Map<string, number>([
    ...([
      ['ArrowDown', at + 1],
      ['ArrowUp', at - 1],
      ['PageDown', at + page],
    ] as const),
    ...([
      ['PageUp', at - page],
      ['Home', 0],
      ['End', last],
    ] as const),
  ]).get(key);
  return to === undefined ? null : Math.min(last, Math.max(0, to));
}

interface LineProps {
  readonly row: number;
  readonly listIndex: number; // position in the list
  readonly listedRows: number; // number of listed rows
  readonly chosen: boolean;
}

function Line({ row, listIndex, listedRows, chosen }: LineProps) {
  const group = useRollouts((s) => s.groups[table.columns.group[row] ?? -1]);
  const { step, reward, success, turns, toolCalls, tokens, characters } = table.columns;
  const solved = success[row] ?? -1;
  const length = Number.isNaN(tokens[row] ?? NaN) ? `${shortNumber(characters[row])} ch` : shortNumber(tokens[row]);
  return (
    <div
      id={`rollout-${row}`}
      className="list-line"
      role="option"
      aria-selected={chosen}
      aria-posinset={listIndex + 1}
      aria-setsize={listedRows}
      style={{ '--at': listIndex } as CSSProperties}
      data-row={row}
    >
      <span>{valueText(step[row])}</span>
      <span className="cut" title={group}>
        {group ?? '–'}
      </span>
      <span>{valueText(reward[row])}</span>
      <span aria-label={['not solved', 'solved'][solved] ?? 'success unknown'}>{['✗', '✓'][solved] ?? ''}</span>
      <span>{valueText(turns[row])}</span>
      <span>{valueText(toolCalls[row])}</span>
      <span>{length}</span>
    </div>
  );
}

function valueText(number: number | undefined): string {
  return number === undefined || Number.isNaN(number) ? '–' : shortNumber(number);
}
