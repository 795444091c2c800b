import { useId, useMemo } from 'react';
import type { MetricName } from '../../domain/metrics.ts';
import { LINES } from './curves.ts';
import { type Frame, frameOf } from './frame.ts';
import { useView } from './view.ts';

/** A chart as it is drawn, and as it is looked at. */
export interface Frames {
  readonly drawn: Frame; // as Recharts draws it, when the chart's turn comes
  readonly sketch: Frame | null; // what is to be seen meanwhile, where that is something else
}

/**
 * What a chart of `width` × `height` px shows: what has come up to `version`, looked at as the reader does now. Null: nothing to draw yet.
 */
export function useFrame(metric: MetricName, version: number, width: number, height: number): Frames | null {
  const id = useId();
  const { range, smoothing, log } = useView();
  const drawn = useMemo(
    () => frameOf({ id, metric, names: LINES[metric] ?? [metric], width, height, version }, useView.getState()),
    [id, metric, width, height, version],
  );
  const { looked } = drawn;
  const same = looked.range === range && looked.smoothing === smoothing && looked.log === log;
  const sketch = useMemo(
    () =>
      same
        ? null
        : frameOf({ id, metric, names: LINES[metric] ?? [metric], width, height, version }, { range, smoothing, log }),
    [same, id, metric, width, height, version, range, smoothing, log],
  );
  return version > 0 ? { drawn, sketch } : null;
}
