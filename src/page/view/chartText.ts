import { metricWords } from '../../domain/evaluationSet.ts';
import type { RunConfig } from '../../config/fields.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { Series } from '../../runs/series.ts';
import { useConfig } from '../knobs/configStore.ts';
import { shownText, shownValue } from '../words/metricText.ts';
import { pointNear, traceOf } from './traces.ts';

const MAX_SPOKEN_CURVES = 8; // curves; more would be too long to listen to

/** A curve in words, for screen readers. */
export function chartSentence(metric: MetricName, series: Series | undefined, config: Pick<RunConfig, 'env'>): string {
  const { label, unit } = metricWords(metric, config);
  const [first, last] = [
    metric.startsWith('eval/') ? series?.firstValue : series?.openingMean,
    shownValue(metric, series),
  ];
  if (!series || first === undefined || last === undefined) return `${label}: nothing measured yet.`;
  const change = last - first;
  const extent = Math.max(...series.buckets.map((b) => b.max)) - Math.min(...series.buckets.map((b) => b.min));
  const changeWords = Math.abs(change) < 0.1 * extent ? 'stayed near' : change > 0 ? 'rose to' : 'fell to';
  return `${label} ${changeWords} ${shownText(metric, last)}${unit && ` ${unit}`} from ${shownText(metric, first)} over ${series.length} updates.`;
}

/** The values of some curves of the live run at an update, in words. Only the first eight. */
export function valuesInWords(metrics: readonly MetricName[], update: number): string {
  const { applied, wanted } = useConfig.getState();
  const valueTexts = metrics.flatMap((metric) => {
    const point = pointNear(traceOf(metric, null), update);
    if (!point) return [];
    const { label, unit } = metricWords(metric, applied ?? wanted);
    const updateNote = point.update === update ? '' : ` at update ${point.update}`;
    return [`${label} ${shownText(metric, point.value)}${unit && ` ${unit}`}${updateNote}`];
  });
  const more = valueTexts.length - MAX_SPOKEN_CURVES;
  return `${valueTexts.slice(0, MAX_SPOKEN_CURVES).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
