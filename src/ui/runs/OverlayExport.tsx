import type { RefObject } from 'react';
import { csvOfCurves, headOf } from '../export/curvesCsv.ts';
import { presetText, smoothingText } from '../export/caption.ts';
import { useView } from '../curves/view.ts';
import { PictureButtons } from '../export/PictureButtons.tsx';
import '../styles/export.css';
import { colourOf, DASHES, type Line, nameOf } from './line.ts';
import { metricLabel, type KeptMetric } from './keptRun.ts';

interface Props {
  readonly chart: RefObject<HTMLElement | null>;
  readonly metric: KeptMetric;
  readonly lines: readonly Line[];
}

/** Takes the curves of compared runs away. */
export function OverlayExport({ chart, metric, lines }: Props) {
  const caption = () => ({
    title: metricLabel(
      metric,
      lines.map(({ run }) => run),
    ),
    notes: [
      ...lines.map(({ run }) => `${nameOf(run)}: ${presetText(run.begun)}; seed ${run.begun.seed}`),
      `metric ${metric}; ${smoothingText(useView.getState().smoothing)}`,
      'x: update',
    ],
    keys: lines.map(({ run, slot }) => ({
      label: `${nameOf({ id: run.id })} ${run.name}`,
      stroke: colourOf(slot),
      width: 2,
      dash: DASHES[slot] ?? '',
    })),
  });
  const csv = () =>
    csvOfCurves(
      lines.flatMap(({ run }) => {
        const curve = run.series.get(metric)?.drawn;
        return curve ? [{ title: `#${run.id} ${headOf(metric, run.begun)}`, x: curve.x, y: curve.mean }] : [];
      }),
    );
  return <PictureButtons chart={chart} caption={caption} csv={csv} />;
}
