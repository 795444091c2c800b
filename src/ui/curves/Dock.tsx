import { lazy, Suspense, useState } from 'react';
import { BASELINES } from '../../domain/baselines.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { CURVE_SETS, metricsOf, type CurveSet } from './curves.ts';
import { live, useLive } from '../run/liveStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { useMedia } from '../parts/useMedia.ts';
import { fold, useFolds } from '../shell/folds.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { BaselineTable } from './BaselineTable.tsx';
import { ImitationCurve } from './ImitationCurve.tsx';
import { ChartCard } from './ChartCard.tsx';
import { ChartSurface } from './ChartSurface.tsx';
import { CurveStrip } from './CurveStrip.tsx';
import { wordsAt } from './chartText.ts';
import { useRecorded } from './markedUpdate.ts';
import { LastChange, ViewControls } from './ViewControls.tsx';

const ExportDialog = lazy(() => import('../export/ExportDialog.tsx').then((m) => ({ default: m.ExportDialog })));

/** What the lines are; the dashed one is of what the charts of a set have as their second. */
const keysOf = (set: CurveSet, marked: boolean, changed: boolean) =>
  [
    ['raw', 'each update'],
    ['smooth', 'smoothed'],
    ['held', set === 'health' ? 'by chance' : set === 'all' ? 'evaluated, or by chance' : 'evaluated'],
    ['baseline', 'baseline'],
    // the last change is told beside the keys, with its own
    ...(marked ? [['marked', 'update in view'] as const] : changed ? [] : [['flag', 'knob changed'] as const]),
  ] as const;

const COMPARED_WITH = BASELINES.map(({ label, doc }) => `${label}: ${doc}`).join('; ');

/** The curves of the run as small multiples; folded, the overview is one line. */
export function Dock() {
  const set = useSelection((s) => s.curves);
  const isFolded = useFolds((s) => s.curves) && set === 'overview';
  const isPhone = useMedia('(max-width: 860px)');
  if (isFolded && !isPhone) {
    return (
      <section className="dock pane" aria-label="Curves" data-pane="curves" data-folded="true">
        <CurveStrip />
      </section>
    );
  }
  return <OpenDock set={set} />;
}

function OpenDock({ set }: { readonly set: CurveSet }) {
  const recorded = useRecorded();
  useLive((s) => s.flagsVersion);
  const changed = live.flags.length > 0;
  const [enlarged, setEnlarged] = useState<MetricName | null>(null);
  return (
    <section className="dock pane" aria-label="Curves" data-pane="curves" data-more={set !== 'overview'}>
      <div className="line dock-bar">
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
          {keysOf(set, recorded !== null, changed).map(([key, text]) => (
            <span className="line" key={key} title={key === 'baseline' ? COMPARED_WITH : undefined}>
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
              {label}
            </option>
          ))}
        </select>
      </div>
      <ChartSurface className="charts" label="all charts" words={(update) => wordsAt(metricsOf(set), update)}>
        <ImitationCurve />
        {set === 'evaluation' && <BaselineTable />}
        {metricsOf(set).map((metric) => (
          <ChartCard key={metric} metric={metric} enlarge={setEnlarged} />
        ))}
      </ChartSurface>
      <Suspense>{enlarged && <ExportDialog metric={enlarged} close={() => setEnlarged(null)} />}</Suspense>
    </section>
  );
}
