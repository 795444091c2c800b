import { BASELINES } from '../../domain/baselines.ts';
import { EVALUATION_WORDS, evaluationSetOf } from '../../domain/evaluationSet.ts';
import { baselinesOf } from './baselineLines.ts';
import { useMarkedUpdate, useRecorded } from './markedUpdate.ts';
import { readAt } from './curveValue.ts';
import { traceOf } from './traces.ts';
import { useConfig } from '../knobs/configStore.ts';
import { percent } from '../parts/numberText.ts';
import { live, useLive } from '../run/liveStore.ts';

/** What the agent is measured against, as numbers, and the agent itself; all on the same tasks. */
export function BaselineTable() {
  useLive((s) => s.metricsVersion);
  const config = useConfig((s) => s.applied ?? s.wanted);
  const { success } = EVALUATION_WORDS[evaluationSetOf(config)];
  const baselines = baselinesOf('eval/success');
  const recorded = useRecorded();
  const marked = useMarkedUpdate();
  const now = live.series.get('eval/success');
  const at = recorded && now ? readAt(traceOf('eval/success', null), marked ?? Infinity) : undefined;
  return (
    <figure className="card chart baselines" data-testid="baselines">
      <figcaption>
        <span className="cut soft">{success} against</span>
      </figcaption>
      {now ? (
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
              <th scope="row">{at ? `after update ${at.update}` : 'now'}, greedy</th>
              <td>{percent(at ? at.value : now.latest)}</td>
            </tr>
          </tbody>
        </table>
      ) : (
        <div className="plot plot-empty">before the first update</div>
      )}
    </figure>
  );
}
