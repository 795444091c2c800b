import { useRef, useState } from 'react';
import { metricWords } from '../../domain/evaluationSet.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { LiveChart } from '../curves/ChartCard.tsx';
import { useTurn } from '../curves/chartClock.ts';
import { chartSentence, wordsAt } from '../curves/chartText.ts';
import { ChangeList } from '../curves/ChangeList.tsx';
import { ChartSurface } from '../curves/ChartSurface.tsx';
import { type Frame, useFrame } from '../curves/frame.ts';
import { edgesOf } from '../curves/plot.ts';
import { useView } from '../curves/view.ts';
import { ViewControls } from '../curves/ViewControls.tsx';
import { LINES } from '../curves/curves.ts';
import { live } from '../run/liveStore.ts';
import { shownText } from '../run/metricText.ts';
import { readAt } from '../curves/traces.ts';
import { Dialog } from '../parts/Dialog.tsx';
import type { Run } from '../../runs/run.ts';
import { currentRun } from '../run/liveRun.ts';
import { ExportRun } from '../checkpoints/ExportRun.tsx';
import { latestCheckpoint } from '../runs/saving.ts';
import { SameKernels } from '../runs/SameKernels.tsx';
import '../styles/export.css';
import { csvOfCurves } from './curvesCsv.ts';
import { download, fileName } from './fileDownload.ts';
import { PictureButtons } from './PictureButtons.tsx';
import { captionOf, configNow, titleOf } from './caption.ts';
import { liveColumns } from './wholeRun.ts';

const SIZE = { width: 620, height: 300 };
const MARGINS = 84; // px around the drawing, for the margins of the dialog and the window

interface Props {
  readonly metric: MetricName;
  readonly close: () => void;
}

/** A large view of a curve, with buttons to export it. */
export function ExportDialog({ metric, close }: Props) {
  const drawing = useRef<HTMLDivElement>(null);
  const names = LINES[metric] ?? [metric];
  const version = Math.max(1, useTurn(metric)); // draw at once, without waiting for a turn
  const series = live.series.get(metric);
  const [{ width, height }] = useState(sizeNow);
  const frame = useFrame(metric, version, width, height);
  const columns = () => liveColumns().filter((column) => names.includes(column.metric));
  const record = live.recorded ? null : currentRun();
  return (
    <Dialog title={titleOf(metric)} className="help export" onClose={close}>
      {series && frame ? (
        <>
          <div className="row">
            <CrosshairReading metric={metric} frame={frame} />
            <ViewControls />
          </div>
          <ChartSurface className="" label="this chart" words={(update) => wordsAt(names, update)}>
            <div
              ref={drawing}
              className="plot"
              style={{ height }}
              {...edgesOf(frame.plot)}
              role="img"
              aria-label={chartSentence(metric, series, configNow())}
            >
              <LiveChart frame={frame} />
            </div>
          </ChartSurface>
          {frame.note && <p className="faint">The scale is {frame.note}.</p>}
        </>
      ) : (
        <p className="empty">Not measured yet.</p>
      )}
      <p className="faint">
        {metricWords(metric, configNow()).doc}{' '}
        {series && `The chart draws ${frame?.positions ?? 0} positions; CSV has all ${series.length} points.`}
      </p>
      {series && frame && (
        <PictureButtons chart={drawing} caption={() => captionOf(metric, frame)} csv={() => csvOfCurves(columns())} />
      )}
      {live.flags.length > 0 && <ChangeList changes={live.flags} />}
      {record && <RunButtons record={record} />}
    </Dialog>
  );
}

/** Buttons to export the whole run. */
function RunButtons({ record }: { readonly record: Run }) {
  return (
    <>
      <button
        type="button"
        className="quiet"
        onClick={() => download(fileName(`run ${record.id}`, 'csv'), 'text/csv', csvOfCurves(liveColumns()))}
      >
        Every metric of run {record.id}, CSV
      </button>
      {latestCheckpoint() && (
        <ExportRun run={latestCheckpoint} label={`Checkpoint of run ${record.id}, zip`}>
          {`Checkpoint of run ${record.id}, zip`}
        </ExportRun>
      )}
      <SameKernels run={record} />
    </>
  );
}

/** The size of the drawing, limited by the window's width, px. */
function sizeNow() {
  return { ...SIZE, width: Math.min(SIZE.width, innerWidth - MARGINS) };
}

/** The values under the crosshair, in words. */
function CrosshairReading({ metric, frame }: { readonly metric: MetricName; readonly frame: Frame }) {
  const at = useView((s) => s.at);
  const smoothing = useView((s) => s.smoothing);
  const read = at === null ? undefined : frame.traces[0] && readAt(frame.traces[0], at);
  if (!read) return <span className="faint">Point at the curve to read it; drag to zoom in.</span>;
  const smooth = smoothing > 0 ? `, smoothed ${shownText(metric, read.smooth)}` : '';
  return (
    <span className="small" data-testid="read">
      update {read.update}: <b>{shownText(metric, read.value)}</b>
      {smooth}
    </span>
  );
}
