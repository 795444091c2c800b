import { ChartCard } from '../charts/ChartCard.tsx';
import { ChartSurface } from '../charts/ChartSurface.tsx';
import { valuesInWords } from '../../page/view/chartText.ts';

const CURVE_METRICS = ['rollout/success'] as const;

/** The success curve of the recording, or of the run that is trained here. */
export function EmbeddedCurve() {
  return (
    <>
      <ChartSurface
        className="embed-curve flex fill low"
        label="the curve"
        valueText={(update) => valuesInWords(CURVE_METRICS, update)}
      >
        {CURVE_METRICS.map((metric) => (
          <ChartCard key={metric} metric={metric} />
        ))}
      </ChartSurface>
      <p className="small faint rigid">Solid: training rollouts. Dashed: evaluation.</p>
    </>
  );
}
