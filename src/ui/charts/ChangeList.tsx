import type { Change } from '../../runs/change.ts';
import type { Run } from '../../runs/run.ts';
import { BeforeAfterChange } from './BeforeAfterChange.tsx';
import { Dialog } from '../parts/Dialog.tsx';
import { useLive } from '../../page/view/liveStore.ts';
import { moveCrosshair } from '../../page/curves/view.ts';

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

/** Lists all knob changes of the run. A press moves the crosshair of the curves to a change. */
export function ChangesDialog({ close }: { readonly close: () => void }) {
  const show = (update: number) => {
    close();
    moveCrosshair(update);
  };
  return (
    <Dialog title="Knobs changed on the way" className="help" onClose={close}>
      <p className="faint">
        These numbers mark dotted lines in the curves. Press one to go there. A learning run improves without any
        change, too. To see whether the change did it, use{' '}
        <a className="accent" href="#/forks">
          Train and compare
        </a>
        .
      </p>
      <ChangeList changes={useLive.getState().flags} show={show} series={useLive.getState().series} />
    </Dialog>
  );
}
