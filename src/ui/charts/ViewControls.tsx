import { lazy, Suspense, useState } from 'react';
import { MAX_SMOOTHING } from '../../runs/smoothing.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { showRange, setLogScale, setSmoothing, useChartView } from '../../page/curves/view.ts';

const ChangesDialog = lazy(() => import('./ChangesDialog.tsx').then((m) => ({ default: m.ChangesDialog })));

export function ViewControls() {
  const smoothing = useChartView((s) => s.smoothing);
  const log = useChartView((s) => s.log);
  return (
    <>
      <UpdatesInView />
      <label
        className="line small soft smoothing"
        title="Weight of earlier updates in the smoothed curve; 0: no smoothing"
      >
        Smoothing
        <input
          type="range"
          min={0}
          max={MAX_SMOOTHING}
          step={0.01}
          value={smoothing}
          aria-valuetext={smoothing === 0 ? 'none' : `weight ${smoothing}`}
          onChange={(event) => setSmoothing(Number(event.target.value))}
        />
        <output>{smoothing}</output>
      </label>
      <button
        type="button"
        className="small toggle"
        aria-pressed={log}
        title="Logarithmic scale, if all values in view are above 0"
        onClick={() => setLogScale(!log)}
      >
        Log
      </button>
    </>
  );
}

/** The updates in view, also for screen readers, and a button to show all. Empty if all are in view. */
function UpdatesInView() {
  const range = useChartView((s) => s.visibleRange);
  return (
    <span className="line small in-view one-line accent">
      <span className="visually-hidden" role="status">
        {range && `Updates ${Math.ceil(range.from)} to ${Math.floor(range.to)} in view.`}
      </span>
      {range && (
        <span aria-hidden="true">
          {Math.ceil(range.from)}–{Math.floor(range.to)}
        </span>
      )}
      {range && (
        <button
          type="button"
          className="small"
          title="Double click or Escape on the curves"
          onClick={() => showRange(null)}
        >
          Show all
        </button>
      )}
    </span>
  );
}

/** The last change of knobs at or before the crosshair, or else the last of all. A press lists all changes. */
export function LastChange() {
  const flags = useLive((s) => s.flags);
  const at = useChartView((s) => s.crosshairUpdate);
  const [open, setOpen] = useState(false);
  const flagAtCrosshair = flags.findLast(({ update }) => at !== null && update <= at);
  const flag = flagAtCrosshair ?? flags.at(-1);
  if (!flag) return null;
  const number = flags.indexOf(flag) + 1;
  return (
    <>
      <button
        type="button"
        className="quiet small last-change thin faint"
        title={`${flag.text}. All changes of knobs: ${flags.length}`}
        onClick={() => setOpen(true)}
      >
        <span className="key flag" />
        <b className="mark-number">{number}</b>
        <span className="cut" data-testid="last-flag">
          update {flag.update}: {flag.text}
        </span>
      </button>
      <Suspense>{open && <ChangesDialog close={() => setOpen(false)} />}</Suspense>
    </>
  );
}
