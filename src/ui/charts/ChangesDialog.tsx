import { Dialog } from '../parts/Dialog.tsx';
import { useLive } from '../../page/view/liveStore.ts';
import { ChangeList } from './ChangeList.tsx';
import { moveCrosshair } from '../../page/curves/view.ts';

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
