import type { Change } from '../../runs/change.ts';
import type { Run } from '../../runs/run.ts';
import { BeforeAfterChange } from './BeforeAfterChange.tsx';

interface Props {
  readonly changes: readonly Change[];
  readonly show?: (update: number) => void; // absent: updates aren't buttons
  readonly series?: Run['series']; // if given, each change shows means before and after it
}

export function ChangeList({ changes, show, series }: Props) {
  return (
    // a scrolling list must be reachable with the keyboard
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
