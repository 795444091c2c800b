import { hackingSentence } from './hacking.ts';
import { percent, short } from '../parts/format.ts';
import { live, useLive } from '../run/liveStore.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { ChartCard } from '../curves/ChartCard.tsx';
import { ChartSurface } from '../curves/ChartSurface.tsx';
import { wordsAt } from '../curves/chartText.ts';

const CURVES: readonly MetricName[] = ['reward_model/score', 'critic/score/mean', 'rollout/success'];

/** How the reward model fares: what it was taught, and whether pleasing it still means solving the task. */
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
          In RLHF a model of human preference pays for one answer: it learns from pairs (Bradley–Terry: the better one
          should score higher, by any amount) and only differences of its score mean something. In agent RL the
          environment pays: the number was found or it was not, over many turns, with tools that answer at random. Each
          is gamed in its own way. An agent pleases a reward model by whatever its labellers like; that is why RLHF
          needs a KL to the reference. Here the simulated labeller likes effort: a tool call is worth something to it
          even when it leads nowhere. Raise Preference reward, and watch the model’s score rise while success falls.
        </p>
      </details>
    </>
  );
}
