import { useRef, useState } from 'react';
import { metricWords } from '../../domain/evaluationSet.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { LiveChart } from '../charts/ChartCard.tsx';
import { useChartVersion } from '../../page/view/chartClock.ts';
import { chartSentence, valuesInWords } from '../../page/view/chartText.ts';
import { ChangeList } from '../charts/ChangeList.tsx';
import { ChartSurface } from '../charts/ChartSurface.tsx';
import { type ChartFrame, useFrame } from '../../page/view/frame.ts';
import { edgeAttributes } from '../../page/curves/plot.ts';
import { useChartView } from '../../page/curves/view.ts';
import { ViewControls } from '../charts/ViewControls.tsx';
import { CHART_LINES } from '../../page/curves/curves.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { shownText } from '../../page/words/metricText.ts';
import { pointNear } from '../../page/view/traces.ts';
import { Dialog } from '../parts/Dialog.tsx';
import type { Run } from '../../runs/run.ts';
import { currentRun } from '../../page/runs/liveRun.ts';
import { ExportRun } from './ExportRun.tsx';
import { latestCheckpoint } from '../../page/runs/saving.ts';
import { csvOfCurves } from '../../page/curves/curvesCsv.ts';
import { download, fileName } from '../../page/browser/fileDownload.ts';
import { PictureButtons } from '../parts/PictureButtons.tsx';
import { captionOf, currentConfig, titleOf } from '../../page/files/caption.ts';
import { liveColumns } from '../../page/files/wholeRun.ts';
import './export.css';

const SIZE = { width: 620, height: 300 };
const MARGINS = 84; // px around the drawing, for the margins of the dialog and the window

interface Props {
  readonly metric: MetricName;
  readonly close: () => void;
}

export function ExportDialog({ metric, close }: Props) {
  const drawing = useRef<HTMLDivElement>(null);
  const names = CHART_LINES[metric] ?? [metric];
  const version = Math.max(1, useChartVersion(metric)); // draw at once, without waiting for a turn
  const series = useLive.getState().series.get(metric);
  const [{ width, height }] = useState(chartSize);
  const frame = useFrame(metric, version, width, height);
  const columns = () => liveColumns().filter((column) => names.includes(column.metric));
  const run = useLive.getState().shownRecording ? null : currentRun();
  return (
    <Dialog title={titleOf(metric)} className="help export" onClose={close}>
      {series && frame ? (
        <>
          <div className="row">
            <CrosshairValue metric={metric} frame={frame} />
            <ViewControls />
          </div>
          <ChartSurface className="" label="this chart" valueText={(update) => valuesInWords(names, update)}>
            <div
              ref={drawing}
              className="plot"
              style={{ height }}
              {...edgeAttributes(frame.plot)}
              role="img"
              aria-label={chartSentence(metric, series, currentConfig())}
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
        {metricWords(metric, currentConfig()).doc}{' '}
        {series && `CSV has all ${series.length} points, also where the chart draws fewer.`}
      </p>
      {series && frame && (
        <PictureButtons chart={drawing} caption={() => captionOf(metric, frame)} csv={() => csvOfCurves(columns())} />
      )}
      {useLive.getState().flags.length > 0 && <ChangeList changes={useLive.getState().flags} />}
      {run && <RunButtons record={run} />}
    </Dialog>
  );
}

function RunButtons({ record: run }: { readonly record: Run }) {
  return (
    <>
      <button
        type="button"
        className="quiet"
        onClick={() => download(fileName(`run ${run.id}`, 'csv'), 'text/csv', csvOfCurves(liveColumns()))}
      >
        Every metric of run {run.id}, CSV
      </button>
      {latestCheckpoint() && (
        <ExportRun run={latestCheckpoint} label={`Checkpoint of run ${run.id}, zip`}>
          {`Checkpoint of run ${run.id}, zip`}
        </ExportRun>
      )}
    </>
  );
}

/** The size of the drawing, limited by the window's width, px. */
function chartSize() {
  return { ...SIZE, width: Math.min(SIZE.width, innerWidth - MARGINS) };
}

function CrosshairValue({ metric, frame }: { readonly metric: MetricName; readonly frame: ChartFrame }) {
  const update = useChartView((s) => s.crosshairUpdate);
  const smoothing = useChartView((s) => s.smoothing);
  const point = update === null ? undefined : frame.traces[0] && pointNear(frame.traces[0], update);
  if (!point) return <span className="faint">Point at the curve to read it; drag to zoom in.</span>;
  const smooth = smoothing > 0 ? `, smoothed ${shownText(metric, point.smooth)}` : '';
  return (
    <span className="small" data-testid="read">
      update {point.update}: <b>{shownText(metric, point.value)}</b>
      {smooth}
    </span>
  );
}
