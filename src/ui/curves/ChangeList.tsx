import type { Change } from '../../runs/run.ts';

interface Props {
  readonly changes: readonly Change[];
  readonly show?: (update: number) => void; // absent: nothing to press
}

/** Changes of knobs by number: where each began to act, and what became what. */
export function ChangeList({ changes, show }: Props) {
  return (
    <ol className="change-list">
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
        </li>
      ))}
    </ol>
  );
}
