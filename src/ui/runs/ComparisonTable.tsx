import { FIELDS, type Field, type FieldName } from '../../config/fields.ts';
import { knobText } from '../../config/knobText.ts';
import { signed } from '../parts/numberText.ts';
import { shownText } from '../run/metricText.ts';
import { type Line, nameOf } from './line.ts';
import { Swatch } from './Swatch.tsx';
import type { Run } from '../../runs/run.ts';
import { differingKnobs, KEPT_METRICS, lastOf, metricLabel, type KeptMetric } from './keptRun.ts';

interface Props {
  readonly lines: readonly Line[];
  readonly baseline: Run | null;
}

/** What the runs on the chart differ in, and their results. Knobs they share are left out. */
export function ComparisonTable({ lines, baseline }: Props) {
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
