import { baselinesOf } from '../baselines.ts';
import { percent } from '../format.ts';
import { live, useLive } from '../live-store.ts';

/** What the agent is measured against, as numbers, and the agent itself; all on the same held-out tasks. */
export function BaselineTable() {
  useLive((s) => s.metricsVersion);
  const baselines = baselinesOf('eval/success');
  const now = live.series.get('eval/success');
  return (
    <figure className="chart baselines" data-testid="baselines">
      <figcaption>
        <span className="chart-label">Held-out success against</span>
      </figcaption>
      {now ? (
        <table>
          <tbody>
            {baselines.map(({ label, share }) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>{percent(share)}</td>
              </tr>
            ))}
            <tr>
              <th scope="row">now, greedy</th>
              <td>{percent(now.latest)}</td>
            </tr>
          </tbody>
        </table>
      ) : (
        <div className="plot plot-empty">before the first update</div>
      )}
    </figure>
  );
}
