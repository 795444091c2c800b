import { lazy, Suspense, useState, useSyncExternalStore } from 'react';
import { BASELINES } from '../../domain/baselines.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { CURVE_SETS, metricsOf, type CurveSet } from '../../page/curves/curves.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { BREAKPOINTS } from '../../page/browser/breakpoints.ts';
import { Icon } from '../parts/Icon.tsx';
import { fold, useFolds } from '../../page/view/folds.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { ChartCard } from '../charts/ChartCard.tsx';
import { ChartSurface } from '../charts/ChartSurface.tsx';
import { valuesInWords } from '../../page/view/chartText.ts';
import { useRecording, useMarkedUpdate } from '../../page/view/markedUpdate.ts';
import { LastChange, ViewControls } from '../charts/ViewControls.tsx';
import { EVALUATION_WORDS, evaluationSetOf, metricWords } from '../../domain/evaluationSet.ts';
import { pointNear, traceOf, baselinesOf } from '../../page/view/traces.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { percent } from '../../page/words/numberText.ts';
import { LineChart } from '../charts/LineChart.tsx';
import { type Plot, verticalLine } from '../../page/curves/plot.ts';
import { shownText, shownValue } from '../../page/words/metricText.ts';
import { updateAxis, useChartVersion } from '../../page/view/chartClock.ts';
import './curveStrip.css';

const LossCurve = lazy(() => import('../charts/LossCurve.tsx').then((m) => ({ default: m.LossCurve })));
const InputPlane = lazy(() => import('./InputPlane.tsx').then((m) => ({ default: m.InputPlane })));
const SpreadGradients = lazy(() => import('./SpreadGradients.tsx').then((m) => ({ default: m.SpreadGradients })));
const PassGate = lazy(() => import('./PassGate.tsx').then((m) => ({ default: m.PassGate })));
const ExportDialog = lazy(() => import('../export/ExportDialog.tsx').then((m) => ({ default: m.ExportDialog })));

/** The legend of the lines. The dashed line is the second line of a set's charts. */
const legendOf = (set: CurveSet, marked: boolean, changed: boolean) =>
  [
    ['raw', 'each update'],
    ['smooth', 'smoothed'],
    [
      'held',
      set === 'health' ? 'by chance' : set === 'all' ? 'evaluated (greedy), or by chance' : 'evaluated (greedy)',
    ],
    ['baseline', 'baseline'],
    // once a knob has changed, `LastChange` shows this key
    ...(marked ? [['marked', 'update in view'] as const] : changed ? [] : [['flag', 'knob changed'] as const]),
  ] as const;

const BASELINE_TOOLTIP = BASELINES.map(({ label, doc }) => `${label}: ${doc}`).join('; ');

interface Props {
  readonly answer?: readonly MetricName[] | undefined; // the metrics that an answer names, in place of the overview
}

/** The curves of the run as small multiples. If the overview is folded, they are one line of tiny curves. */
export function Dock({ answer }: Props) {
  const set = useSelection((s) => s.curves);
  const names = answer && set === 'overview' ? answer : metricsOf(set);
  const isFolded = useFolds((s) => s.curves) && set === 'overview';
  const isPhone = useMedia(BREAKPOINTS.phone);
  if (isFolded && !isPhone) {
    return (
      <section className="dock pane" aria-label="Curves" data-pane="curves" data-folded="true">
        <CurveStrip names={names} />
      </section>
    );
  }
  return <OpenDock {...{ set, names }} ofAnswer={answer !== undefined} />;
}

interface OpenProps {
  readonly set: CurveSet;
  readonly names: readonly MetricName[];
  readonly ofAnswer: boolean;
}

function OpenDock({ set, names, ofAnswer }: OpenProps) {
  const recorded = useRecording();
  const changed = useLive((s) => s.flags.length > 0);
  const [enlarged, setEnlarged] = useState<MetricName | null>(null);
  return (
    <section className="dock pane" aria-label="Curves" data-pane="curves" data-more={ofAnswer || set !== 'overview'}>
      <div className="line dock-bar gap-4">
        <h2>Curves</h2>
        {set === 'overview' && (
          <button
            type="button"
            className="quiet icon-button small fold-curves"
            aria-label="Fold the curves to a line"
            title="Fold the curves to a line"
            onClick={() => fold('curves', true)}
          >
            <Icon name="down" />
          </button>
        )}
        {recorded && (
          <span className="chip example" title={`Of the recorded run: ${recorded.name}, seed ${recorded.begun.seed}`}>
            recording
          </span>
        )}
        <span className="row small soft legend curve-legend">
          {legendOf(set, recorded !== null, changed).map(([key, text]) => (
            <span className="line" key={key} title={key === 'baseline' ? BASELINE_TOOLTIP : undefined}>
              <span className={`key ${key}`} /> {text}
            </span>
          ))}
        </span>
        <LastChange />
        <span className="end" />
        <ViewControls />
        <select
          className="small"
          aria-label="Curves shown"
          value={set}
          onChange={(event) => useSelection.setState({ curves: event.target.value as CurveSet })}
        >
          {Object.entries(CURVE_SETS).map(([name, { label }]) => (
            <option key={name} value={name}>
              {ofAnswer && name === 'overview' ? 'This answer' : label}
            </option>
          ))}
        </select>
      </div>
      <ChartSurface className="charts" label="all charts" valueText={(update) => valuesInWords(names, update)}>
        <ImitationCurve />
        {set === 'evaluation' && <BaselineTable />}
        <Suspense>{set === 'evaluation' && <PassGate />}</Suspense>
        <Suspense>{set === 'health' && <InputPlane />}</Suspense>
        <Suspense>{set === 'health' && <SpreadGradients />}</Suspense>
        {names.map((metric) => (
          <ChartCard key={metric} metric={metric} enlarge={setEnlarged} />
        ))}
      </ChartSurface>
      <Suspense>{enlarged && <ExportDialog metric={enlarged} close={() => setEnlarged(null)} />}</Suspense>
    </section>
  );
}

/** The imitation loss by step, at the start of a run that imitates. Empty before two steps, and once RL has curves of its own. */
export function ImitationCurve() {
  const losses = useLive((s) => s.losses);
  const isOver = useLive((s) => s.update > 1);
  return losses.length < 2 || isOver ? null : (
    <Suspense>
      <LossCurve losses={losses} />
    </Suspense>
  );
}

/** A table of success: the baselines and the agent, all on the same tasks. */
function BaselineTable() {
  useLive((s) => s.metricsVersion);
  const config = useConfig((s) => s.applied ?? s.wanted);
  const { success } = EVALUATION_WORDS[evaluationSetOf(config)];
  const baselines = baselinesOf('eval/success');
  const recorded = useRecording();
  const marked = useMarkedUpdate();
  const evaluation = useLive.getState().series.get('eval/success');
  const point = recorded && evaluation ? pointNear(traceOf('eval/success', null), marked ?? Infinity) : undefined;
  return (
    <figure className="card chart baselines" data-testid="baselines">
      <figcaption>
        <span className="cut soft">{success} against</span>
      </figcaption>
      {evaluation ? (
        <table>
          <tbody>
            {baselines.map(({ label, share }) => (
              <tr key={label}>
                <th scope="row" title={BASELINES.find((each) => each.label === label)?.doc}>
                  {label}
                </th>
                <td>{percent(share)}</td>
              </tr>
            ))}
            <tr>
              <th scope="row">{point ? `after update ${point.update}` : 'now'}, greedy</th>
              <td>{percent(point ? point.value : evaluation.lastValue)}</td>
            </tr>
          </tbody>
        </table>
      ) : (
        <div className="plot plot-empty">before the first update</div>
      )}
    </figure>
  );
}

const TINY_PLOT = { width: 60, height: 20, left: 0, right: 0, top: 1.5, bottom: 1.5 }; // px

/** On a recording, each value is that of the update shown, otherwise the newest. */
function CurveStrip({ names }: { readonly names: readonly MetricName[] }) {
  const recorded = useRecording() !== null;
  return (
    <div className="curve-strip line gap-4">
      <button
        type="button"
        className="quiet small"
        aria-expanded="false"
        title="Open the curves"
        onClick={() => fold('curves', false)}
      >
        <Icon name="up" /> Curves
      </button>
      {recorded && <span className="chip example">recording</span>}
      <ul>
        {names.map((metric) => (
          <TinyCurve key={metric} metric={metric} />
        ))}
      </ul>
    </div>
  );
}

function TinyCurve({ metric }: { readonly metric: MetricName }) {
  useChartVersion(metric);
  useLive((s) => s.curvesVersion);
  const env = useConfig((s) => (s.applied ?? s.wanted).env);
  const { label, doc } = metricWords(metric, { env });
  const recorded = useRecording();
  const marked = useMarkedUpdate();
  const crosshairUpdate = recorded ? marked : null;
  const series = useLive.getState().series.get(metric);
  const value =
    crosshairUpdate === null ? shownValue(metric, series) : pointNear(traceOf(metric, null), crosshairUpdate)?.value;
  const { x, smooth } = series?.plotted ?? { x: [], smooth: [] };
  const [low, high] = [Math.min(0, ...smooth), Math.max(0, ...smooth)];
  const plot: Plot = {
    ...TINY_PLOT,
    x: updateAxis(),
    y: { domain: [low, high > low ? high : low + 1], log: false },
  };
  return (
    <li title={doc}>
      <span className="soft">{label}</span>
      <LineChart chart={{ plot, gridLines: [low], lines: [{ cssClass: 'smooth', x, y: smooth }] }}>
        {crosshairUpdate !== null && <path className="marked" d={verticalLine(plot, crosshairUpdate)} />}
      </LineChart>
      <b>{series ? shownText(metric, value) : '–'}</b>
    </li>
  );
}

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
}
