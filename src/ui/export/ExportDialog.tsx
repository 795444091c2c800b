import { useEffect, useRef, useState } from 'react';
import { metricWords } from '../../domain/evaluated.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { chartVersion, watchChart } from '../curves/chartClock.ts';
import { chartSentence } from '../curves/chartText.ts';
import { useConfig } from '../knobs/configStore.ts';
import { LINES } from '../curves/curves.ts';
import { live } from '../run/liveStore.ts';
import { Chart } from '../curves/Chart.tsx';
import { Dialog } from '../parts/Dialog.tsx';
import { backendText } from '../../runs/run.ts';
import { currentRun } from '../run/liveRun.ts';
import { ExportRun } from '../checkpoints/ExportRun.tsx';
import { latestCheckpoint } from '../runs/saving.ts';
import { SameKernels } from '../runs/SameKernels.tsx';
import '../styles/export.css';
import { csvOfCurves } from './csv.ts';
import { download, fileName } from './download.ts';
import { PictureButtons } from './PictureButtons.tsx';
import type { Caption, Key } from './svg.ts';
import { liveColumns } from './wholeRun.ts';

const SIZE = { width: 620, height: 300 };
const ROOM = 84; // of the dialog and the window around a drawing

interface Props {
  readonly metric: MetricName;
  readonly close: () => void;
}

/** A curve in large, and ways to take it away. */
export function ExportDialog({ metric, close }: Props) {
  const drawing = useRef<HTMLDivElement>(null);
  const names = LINES[metric] ?? [metric];
  const [version, setVersion] = useState(() => chartVersion(names));
  useEffect(() => {
    const lines = LINES[metric] ?? [metric];
    return watchChart(
      () => chartVersion(lines),
      () => setVersion(chartVersion(lines)),
    );
  }, [metric]);
  const series = live.series.get(metric);
  const columns = () => liveColumns().filter((column) => names.includes(column.metric));
  const record = currentRun();
  return (
    <Dialog title={titleOf(metric)} className="help export" onClose={close}>
      {series ? (
        <div ref={drawing} role="img" aria-label={chartSentence(metric, series, configNow())}>
          <Chart
            metric={metric}
            names={names}
            version={version}
            {...SIZE}
            width={Math.min(SIZE.width, innerWidth - ROOM)}
          />
        </div>
      ) : (
        <p className="empty">Not measured yet.</p>
      )}
      <p className="faint">
        {metricWords(metric, configNow()).doc}{' '}
        {series && `The chart draws ${series.buckets.length} positions; CSV has all ${series.length} points.`}
      </p>
      {series && (
        <PictureButtons chart={drawing} caption={() => captionOf(metric)} csv={() => csvOfCurves(columns())} />
      )}
      {record && (
        <button
          type="button"
          className="quiet"
          onClick={() => download(fileName(`run ${record.id}`, 'csv'), 'text/csv', csvOfCurves(liveColumns()))}
        >
          Every metric of run {record.id}, CSV
        </button>
      )}
      {record && latestCheckpoint() && (
        <ExportRun run={latestCheckpoint} label={`Checkpoint of run ${record.id}, zip`}>
          {`Checkpoint of run ${record.id}, zip`}
        </ExportRun>
      )}
      {record && <SameKernels run={record} />}
    </Dialog>
  );
}

function configNow() {
  const { applied, wanted } = useConfig.getState();
  return applied ?? wanted;
}

function titleOf(metric: MetricName): string {
  const { label, unit } = metricWords(metric, configNow());
  return unit === '' ? label : `${label} (${unit})`;
}

/** What a picture of a live curve says: its unit, what the lines are, and of which run. */
function captionOf(metric: MetricName): Caption {
  const [, second] = LINES[metric] ?? [];
  const record = currentRun();
  const thinned = live.series.get(metric)?.buckets.some(({ count }) => count > 1) ?? false;
  const keys: Key[] = [
    { label: 'each update', stroke: 'var(--curve)', width: 1, opacity: 0.4 },
    { label: 'smoothed', stroke: 'var(--curve)', width: 2 },
    ...(thinned ? [{ label: 'lowest to highest', stroke: 'var(--curve)', width: 8, opacity: 0.2 }] : []),
    ...(second
      ? [{ label: metricWords(second, configNow()).label, stroke: 'var(--curve-2)', width: 2, dash: '5 3' }]
      : []),
    ...(live.flags.length > 0 ? [{ label: 'knob changed', stroke: 'var(--flag)', width: 1, dash: '2 3' }] : []),
  ];
  const run = record ? [`Run ${record.id}: ${record.name}`] : [];
  const kernels = record?.kernels?.['set'];
  const on = record && [backendText(record.backend), ...(kernels ? [`kernels ${kernels}`] : [])].join(', ');
  const where = record ? `seed ${record.config.seed}, ${on}, ` : '';
  return { title: titleOf(metric), notes: [...run, `${where}x: update`], keys };
}
