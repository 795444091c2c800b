import { hackingSentence } from './hacking.ts';
import { percent, short } from '../parts/numberText.ts';
import { live, useLive } from '../run/liveStore.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { ChartCard } from '../curves/ChartCard.tsx';
import { ChartSurface } from '../curves/ChartSurface.tsx';
import { wordsAt } from '../curves/chartText.ts';

const CURVES: readonly MetricName[] = ['reward_model/score', 'critic/score/mean', 'rollout/success'];

/** The numbers of the reward model: its training pairs, loss and agreement, and curves that show whether a higher score still means more tasks solved. */
export function PreferenceNumbers() {
  const preferences = useLive((s) => s.preferences);
  useLive((s) => s.metricsVersion);
  const facts: readonly (readonly [string, string])[] = [
    ['pairs by the simulated labeller', String(preferences?.pairs ?? 0)],
    ['by you', String(preferences?.clicks ?? 0)],
    ['loss', short(preferences?.loss)],
    ['agreement', percent(preferences?.agreement ?? undefined)],
  ];
  return (
    <>
      {preferences && (
        <dl className="outcome" data-testid="preferences">
          {facts.map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <ChartSurface
        className="charts preference-charts"
        label="these charts"
        words={(update) => wordsAt(CURVES, update)}
      >
        {CURVES.map((metric) => (
          <ChartCard key={metric} metric={metric} />
        ))}
      </ChartSurface>
      <p className="hacking">{hackingSentence(live.series)}</p>
      <details className="subgroup">
        <summary>
          <h3>RLHF and agent RL: what is the difference?</h3>
        </summary>
        <p>
          In RLHF a reward model of human preferences scores one answer. It learns from pairs (Bradley–Terry: the better
          one should score higher, by any amount), so only differences between its scores mean something. In agent RL
          the environment gives the reward: the number was found or not, over many turns, with tools and chance. Each
          can be gamed. An agent can please a reward model with anything its labellers like, which is why RLHF needs a
          KL to the reference. The simulated labeller here likes effort: it values a tool call even if it leads nowhere.
          Raise Preference reward, and watch the reward model’s score rise while success falls.
        </p>
      </details>
    </>
  );
}
