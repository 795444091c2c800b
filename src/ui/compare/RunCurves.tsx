import { useEffect, useState } from 'react';
import type { Run } from '../../runs/run.ts';
import { useReplay } from '../../page/view/player.ts';
import { listRun } from '../../page/runs/liveRun.ts';
import { useLive } from '../../page/view/liveStore.ts';
import {
  KEPT_METRICS,
  type KeptMetric,
  metricLabel,
  differingKnobs,
  lastMetricValue,
  listedMetrics,
} from '../../page/runs/keptRun.ts';
import { type RunLine, chartName, chartLines } from '../../page/runs/line.ts';
import { Overlay } from './Overlay.tsx';
import { RunFindings } from './RunFindings.tsx';
import type { Finding } from '../../metricLogs/diagnosis.ts';
import type { CurveName } from '../../domain/metrics.ts';
import { drawnLines, useRuns } from '../../page/runs/runStore.ts';
import { FIELDS, type Field, type FieldName } from '../../config/fields.ts';
import { knobValueText } from '../../config/imitationRecipe.ts';
import { signedNumber } from '../../page/words/numberText.ts';
import { shownText } from '../../page/words/metricText.ts';
import { Swatch } from '../parts/Swatch.tsx';
import { metricWords } from '../../domain/evaluationSet.ts';
import { LineChart } from '../charts/LineChart.tsx';
import type { Plot } from '../../page/curves/plot.ts';
import { useChartView } from '../../page/curves/view.ts';
import { curveOf, updatesAxis, valueAxis } from '../../page/runs/metricCurves.ts';

const MIN_LABEL_GAP = 0.4; // part of the axis between two marks with words

export function RunCurves() {
  const runs = useRuns((s) => s.runs);
  const metric = useRuns((s) => s.metric);
  const baselineId = useRuns((s) => s.baseline);
  const trainingRun = useRuns((s) => s.comparisonRun);
  const lines = useLines();
  useFrequentListing();
  const baseline = runs.find(({ id }) => id === baselineId) ?? null;
  const recorded = useReplay((s) => (s.knobsDiffer || s.trainingBegan ? null : s.recording));
  const recordedRun = runs.length === 0 && !trainingRun ? recorded : null;
  const all = recordedRun ? [recordedRun] : trainingRun ? [...runs, trainingRun] : runs;
  const [first] = lines;
  const singleLine = lines.length === 1 && (!baseline || baseline === first?.run) ? first : undefined;
  const diagnosis = singleLine?.run.diagnosis;
  const findings = diagnosis?.findings ?? [];
  const logged = lines.flatMap(({ run }) => [...listedMetrics(run), ...(run.foreign?.keys() ?? [])]);
  const choices = new Set([...KEPT_METRICS, ...findings.map((finding) => finding.metric), metric, ...logged]);
  const marked = findings.filter((finding) => finding.metric === metric);
  const isNear = (update: number) => (other: Finding) =>
    Math.abs(other.from - update) < (singleLine?.run.update ?? 0) * MIN_LABEL_GAP;
  // of marks that are close together, the worst one's has words
  const flags = marked.map(({ from, title }, i) => ({
    update: from,
    text: marked.slice(0, i).some(isNear(from)) ? '' : title,
  }));
  return (
    <section className="run-compare panel" aria-label="Comparison">
      <div className="panel-head">
        <h2>Curves</h2>
        <select
          className="small end"
          aria-label="Metric"
          value={metric}
          onChange={(event) => useRuns.setState({ metric: event.target.value as CurveName })}
        >
          {Array.from(choices, (name) => (
            <option key={name} value={name}>
              {metricLabel(name, all)}
            </option>
          ))}
        </select>
      </div>
      {lines.length > 0 ? (
        <>
          {diagnosis && <RunFindings key={singleLine.run.id} run={singleLine.run} diagnosis={diagnosis} />}
          <Overlay metric={metric} lines={lines} all={all} flags={flags} />
          {singleLine ? (
            <>
              <AllCurves line={singleLine} all={all} />
              {runs.length > 1 && <p className="soft">Tick a second run to compare their knobs.</p>}
            </>
          ) : (
            <ComparisonTable lines={lines} baseline={baseline} />
          )}
        </>
      ) : (
        <>
          <p className="empty">
            {runs.length === 0
              ? 'Your runs appear here on one chart, with a list of the knobs in which they differ.'
              : 'Tick a run to draw its curves; tick two to compare their knobs.'}
          </p>
          {recordedRun && <RecordedRun recordedRun={recordedRun} />}
        </>
      )}
    </section>
  );
}

/** The recorded run, shown while there are no runs. */
function RecordedRun({ recordedRun }: { readonly recordedRun: Run }) {
  const metric = useRuns((s) => s.metric);
  const line: RunLine = { run: { ...recordedRun, arm: 'recorded' }, slot: 0 };
  return (
    <>
      <p>
        <span className="chip example">recording</span> {recordedRun.name}
      </p>
      <Overlay metric={metric} lines={[line]} all={[recordedRun]} />
      <AllCurves line={line} all={[recordedRun]} />
    </>
  );
}

function useLines(): readonly RunLine[] {
  const runs = useRuns((s) => s.runs);
  const slots = useRuns((s) => s.slots);
  const comparisonRun = useRuns((s) => s.comparisonRun);
  return drawnLines({ runs, slots, comparisonRun });
}

/** Updates the current run in the list every second while this panel is open; otherwise that happens less often. */
function useFrequentListing(): void {
  const running = useLive((s) => s.running);
  useEffect(() => {
    listRun();
    if (!running) return;
    const timer = setInterval(listRun, 1000);
    return () => clearInterval(timer);
  }, [running]);
}

interface Props {
  readonly lines: readonly RunLine[];
  readonly baseline: Run | null;
}

function ComparisonTable({ lines, baseline }: Props) {
  const runs = lines.map(({ run }) => run);
  const compared = baseline && !runs.includes(baseline) ? [baseline, ...runs] : runs;
  const knobs = differingKnobs(compared.filter(({ program }) => program === undefined));
  return (
    <div className="compared">
      <table className="ruled" data-testid="different-knobs">
        <caption>Knobs that differ</caption>
        <Head lines={lines} baseline={baseline} />
        <tbody>
          {knobs.map((name) => (
            <tr key={name}>
              <th scope="row">{labelOf(name)}</th>
              {runs.map((run) => (
                <td key={run.id} data-differs={baseline !== null && run.begun[name] !== baseline.begun[name]}>
                  {run.program === undefined ? knobValueText(name, run.begun) : 'unknown'}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {knobs.length === 0 && <p className="faint">None: these runs have the same knobs.</p>}
      <table className="ruled" data-testid="results">
        <caption>Results{baseline && `, each with its difference to run ${baseline.id}`}</caption>
        <Head lines={lines} baseline={baseline} />
        <tbody>
          <tr>
            <th scope="row">Updates</th>
            {runs.map((run) => (
              <td key={run.id}>{run.update}</td>
            ))}
          </tr>
          {KEPT_METRICS.map((metric) => (
            <tr key={metric}>
              <th scope="row">{metricLabel(metric, runs)}</th>
              {runs.map((run) => (
                <td key={run.id}>
                  {shownText(metric, lastMetricValue(run, metric))}
                  {baseline && baseline !== run && <Difference {...{ run, baseline, metric }} />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Head({ lines, baseline }: Props) {
  return (
    <thead>
      <tr>
        <td />
        {lines.map(({ run, slot }) => (
          <th key={run.id} scope="col">
            <Swatch slot={slot} /> {chartName(run)}
            {run === baseline && <span className="faint"> baseline</span>}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface DifferenceProps {
  readonly run: Run;
  readonly baseline: Run;
  readonly metric: KeptMetric;
}

function Difference({ run, baseline, metric }: DifferenceProps) {
  const [value, baselineValue] = [lastMetricValue(run, metric), lastMetricValue(baseline, metric)];
  return value === undefined || baselineValue === undefined ? null : (
    <span className="faint"> {signedNumber(value - baselineValue)}</span>
  );
}

function labelOf(name: FieldName): string {
  const field: Field = FIELDS[name];
  return field.label;
}

const SMALL_PLOT = { width: 160, height: 56, left: 0, right: 0, top: 2, bottom: 2 }; // px

interface AllCurvesProps {
  readonly line: RunLine;
  readonly all: readonly Run[]; // the axis of values covers all runs, as in the large chart
}

function AllCurves({ line, all }: AllCurvesProps) {
  const foreign = [...(line.run.foreign?.keys() ?? [])];
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-labelledby="every-curve">
      <h3 id="every-curve">All curves of {line.run.name}</h3>
      <CurveButtons {...{ line, all }} metrics={listedMetrics(line.run)} />
      {foreign.length > 0 && (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>Also in the log, under its own names: {foreign.length}</summary>
          {isOpen && <CurveButtons {...{ line, all }} metrics={foreign} />}
        </details>
      )}
    </section>
  );
}

function CurveButtons({ line, all, metrics }: AllCurvesProps & { readonly metrics: readonly CurveName[] }) {
  const selectedMetric = useRuns((s) => s.metric);
  return (
    <ul className="every-curve grid gap-4">
      {metrics.map((metric) => {
        const { label, doc } = metricWords(metric, line.run.begun);
        return (
          <li key={metric}>
            <button
              type="button"
              title={doc}
              aria-pressed={metric === selectedMetric}
              onClick={() => useRuns.setState({ metric })}
            >
              <span className="line between">
                <span className="soft">{label}</span>
                <b>{shownText(metric, lastMetricValue(line.run, metric))}</b>
              </span>
              <SmallCurve line={line} all={all} metric={metric} />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function SmallCurve({ line, all, metric }: AllCurvesProps & { readonly metric: CurveName }) {
  const smoothing = useChartView((s) => s.smoothing);
  const curve = curveOf(line.run, metric, smoothing);
  const plot: Plot = {
    ...SMALL_PLOT,
    x: updatesAxis([line.run]),
    y: valueAxis(metric, all, false).axis,
  };
  return (
    <LineChart
      fit="stretch"
      chart={{ plot, gridLines: [plot.y.domain[0]], lines: curve ? chartLines(line, curve) : [] }}
    />
  );
}
