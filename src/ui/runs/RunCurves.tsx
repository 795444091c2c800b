import { useEffect } from 'react';
import type { Run } from '../../runs/run.ts';
import { useReplay } from '../replay/player.ts';
import { listRun } from '../run/liveRun.ts';
import { useLive } from '../run/liveStore.ts';
import { KEPT_METRICS, type KeptMetric, metricLabel, differingKnobs, lastOf } from './keptRun.ts';
import { type Line, nameOf, linesOf } from './line.ts';
import { Overlay } from './Overlay.tsx';
import { useRuns } from './runStore.ts';
import { FIELDS, type Field, type FieldName } from '../../config/fields.ts';
import { knobText } from '../../config/knobText.ts';
import { signed } from '../parts/numberText.ts';
import { shownText } from '../run/metricText.ts';
import { Swatch } from './Swatch.tsx';
import { metricWords } from '../../domain/evaluationSet.ts';
import { LineChart } from '../curves/LineChart.tsx';
import type { Plot } from '../curves/plot.ts';
import { useView } from '../curves/view.ts';
import { axisEnd } from '../curves/axes.ts';
import { courseOf, newestOf, scaleOf } from './courses.ts';

/** The chosen runs drawn over each other, and what they differ in. */
export function RunCurves() {
  const runs = useRuns((s) => s.runs);
  const metric = useRuns((s) => s.metric);
  const pinned = useRuns((s) => s.baseline);
  const growing = useRuns((s) => s.growing);
  const lines = useLines();
  useFreshRecord();
  const baseline = runs.find(({ id }) => id === pinned) ?? null;
  const recorded = useReplay((s) => (s.away || s.over ? null : s.recording));
  const example = runs.length === 0 && !growing ? recorded : null;
  const all = example ? [example] : growing ? [...runs, growing] : runs;
  const [first] = lines;
  const alone = lines.length === 1 && (!baseline || baseline === first?.run) ? first : undefined;
  return (
    <section className="run-compare panel" aria-label="Comparison">
      <div className="panel-head">
        <h2>Curves</h2>
        <select
          className="small end"
          aria-label="Metric"
          value={metric}
          onChange={(event) => useRuns.setState({ metric: event.target.value as KeptMetric })}
        >
          {KEPT_METRICS.map((name) => (
            <option key={name} value={name}>
              {metricLabel(name, all)}
            </option>
          ))}
        </select>
      </div>
      {lines.length > 0 ? (
        <>
          <Overlay metric={metric} lines={lines} all={all} />
          {alone ? (
            <>
              <EveryCurve line={alone} all={all} />
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
          {example && <Recorded example={example} />}
        </>
      )}
    </section>
  );
}

/** The recorded run of what is chosen, where runs will stand. */
function Recorded({ example }: { readonly example: Run }) {
  const metric = useRuns((s) => s.metric);
  const line: Line = { run: { ...example, arm: 'recorded' }, slot: 0 };
  return (
    <>
      <p>
        <span className="chip example">recording</span> {example.name}
      </p>
      <Overlay metric={metric} lines={[line]} all={[example]} />
      <EveryCurve line={line} all={[example]} />
    </>
  );
}

/** The runs that are drawn, with the one that grows beside the lab. */
function useLines(): readonly Line[] {
  const runs = useRuns((s) => s.runs);
  const slots = useRuns((s) => s.slots);
  const growing = useRuns((s) => s.growing);
  const lines = slots.flatMap((id, slot): Line[] => {
    const run = runs.find((each) => each.id === id);
    return run ? [{ run, slot }] : [];
  });
  const free = slots.indexOf(null);
  return growing && free >= 0 ? [...lines, { run: growing, slot: free }] : lines;
}

/** The run under way is saved now and then; while it is looked at, more often. */
function useFreshRecord(): void {
  const running = useLive((s) => s.running);
  useEffect(() => {
    listRun();
    if (!running) return;
    const timer = setInterval(listRun, 1000);
    return () => clearInterval(timer);
  }, [running]);
}

interface Props {
  readonly lines: readonly Line[];
  readonly baseline: Run | null;
}

/** What the runs on the chart differ in, and their results. Knobs they share are left out. */
function ComparisonTable({ lines, baseline }: Props) {
  const runs = lines.map(({ run }) => run);
  const knobs = differingKnobs(baseline && !runs.includes(baseline) ? [baseline, ...runs] : runs);
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
                  {knobText(run.begun[name])}
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
                  {shownText(metric, lastOf(run, metric))}
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
            <Swatch slot={slot} /> {nameOf(run)}
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
  const [now, then] = [lastOf(run, metric), lastOf(baseline, metric)];
  return now === undefined || then === undefined ? null : <span className="faint"> {signed(now - then)}</span>;
}

function labelOf(name: FieldName): string {
  const field: Field = FIELDS[name];
  return field.label;
}

const BOX = { width: 160, height: 56, left: 0, right: 0, top: 2, bottom: 2 }; // px

interface EveryCurveProps {
  readonly line: Line;
  readonly all: readonly Run[]; // the axes hold for all runs, as above
}

/** A small curve for each metric that a run keeps, with its last value. A press draws the curve large. */
function EveryCurve({ line, all }: EveryCurveProps) {
  const shown = useRuns((s) => s.metric);
  return (
    <section aria-labelledby="every-curve">
      <h3 id="every-curve">All curves of {line.run.name}</h3>
      <ul className="every-curve">
        {KEPT_METRICS.map((metric) => {
          const { label, doc } = metricWords(metric, line.run.begun);
          return (
            <li key={metric}>
              <button
                type="button"
                title={doc}
                aria-pressed={metric === shown}
                onClick={() => useRuns.setState({ metric })}
              >
                <span className="line between">
                  <span className="soft">{label}</span>
                  <b>{shownText(metric, lastOf(line.run, metric))}</b>
                </span>
                <Small line={line} all={all} metric={metric} />
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Small({ line, all, metric }: EveryCurveProps & { readonly metric: KeptMetric }) {
  const smoothing = useView((s) => s.smoothing);
  const course = courseOf(line.run, metric, smoothing);
  const plot: Plot = { ...BOX, x: { from: 0, to: axisEnd(newestOf(all)) }, y: scaleOf(metric, all, false).axis };
  return (
    <LineChart fit="stretch" chart={{ plot, rules: [plot.y.domain[0]], lines: course ? linesOf(line, course) : [] }} />
  );
}
