import type { Change } from '../../runs/change.ts';
import type { Run } from '../../runs/run.ts';
import { BeforeAfterChange } from './BeforeAfterChange.tsx';

interface Props {
  readonly changes: readonly Change[];
  readonly show?: (update: number) => void; // absent: nothing to press
  readonly series?: Run['series']; // what the run was before each and has been since is told; absent: not
}

/** Changes of knobs by number: where each began to act, what became what, and what came of it. */
export function ChangeList({ changes, show, series }: Props) {
  return (
    // what scrolls must be reachable with the keyboard
    <ol className="change-list" tabIndex={show ? undefined : 0}>
      {changes.map(({ update, text }, i) => (
        <li className="line" key={`${update} ${text}`}>
          <b className="mark-number">{i + 1}</b>
          {show ? (
            <button type="button" className="small" onClick={() => show(update)}>
              update {update}
            </button>
          ) : (
            <span className="soft">update {update}</span>
          )}
          <span>{text}</span>
          {series && <BeforeAfterChange run={{ changes, series }} index={i} />}
        </li>
      ))}
    </ol>
  );
}
