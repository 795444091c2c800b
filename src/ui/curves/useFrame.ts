import { useId, useMemo } from 'react';
import type { MetricName } from '../../domain/metrics.ts';
import { LINES } from './curves.ts';
import { type Frame, frameOf } from './frame.ts';
import { useView } from './view.ts';

/** What a chart shows. */
export interface Frames {
  readonly drawn: Frame; // for Recharts, which draws one chart after another
  readonly sketch: Frame | null; // shown until Recharts has drawn, if range, smoothing or scale has changed since; else null
}

/**
 * What a chart of `width` × `height` px shows of the data up to `version`, with the reader's range, smoothing and scale. Null if there is nothing to
 * draw yet.
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
