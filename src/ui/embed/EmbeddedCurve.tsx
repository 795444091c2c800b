import { ChartCard } from '../curves/ChartCard.tsx';
import { ChartSurface } from '../curves/ChartSurface.tsx';
import { wordsAt } from '../curves/chartText.ts';

const METRICS = ['rollout/success'] as const;

/** The success curve of the recording, or of the run that is trained here. */
export function EmbeddedCurve() {
  return (
    <>
      <ChartSurface className="embed-curve" label="the curve" words={(update) => wordsAt(METRICS, update)}>
        {METRICS.map((metric) => (
          <ChartCard key={metric} metric={metric} />
        ))}
      </ChartSurface>
      <p className="small faint embed-keys">Solid: training rollouts. Dashed: evaluation.</p>
    </>
  );
}
