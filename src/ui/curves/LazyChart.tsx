import { lazy, Suspense } from 'react';
import { Crosshair } from './Crosshair.tsx';
import type { Frame } from './frame.ts';
import { useRecorded } from './markedUpdate.ts';
import { Sketch } from './Sketch.tsx';
import type { Frames } from './useFrame.ts';

/** Fetches the library that draws charts. */
export const loadChart = () => import('./Chart.tsx').then((m) => ({ default: m.Chart }));
const Chart = lazy(loadChart);

interface Props {
  readonly frames: Frames;
  readonly frame: Frame; // what is to be seen of them
}

/** A curve with what lies over it. A recording is sketched: a first visit does without the library. */
export function LazyChart({ frames: { drawn, sketch }, frame }: Props) {
  const recorded = useRecorded() !== null;
  return (
    <>
      {recorded ? (
        <Sketch frame={frame} />
      ) : (
        <Suspense fallback={<div className="plot-empty" />}>
          <Chart frame={drawn} />
          {sketch && <Sketch frame={sketch} />}
        </Suspense>
      )}
      {frame.note && (
        <span className="cut chart-note" title={frame.note}>
          {frame.note}
        </span>
      )}
      <Crosshair frame={frame} />
    </>
  );
}
