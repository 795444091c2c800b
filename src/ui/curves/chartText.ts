import { metricWords } from '../../domain/evaluationSet.ts';
import type { RunConfig } from '../../config/fields.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { Series } from '../../runs/series.ts';
import { useConfig } from '../knobs/configStore.ts';
import { shownText, shownValue } from '../run/metricText.ts';
import { readAt, traceOf } from './traces.ts';

const MAX_SPOKEN_CURVES = 8; // curves; more would be too long to listen to

/** A curve in words, for screen readers. */
export function chartSentence(metric: MetricName, series: Series | undefined, config: Pick<RunConfig, 'env'>): string {
  const { label, unit } = metricWords(metric, config);
  const [first, last] = [metric.startsWith('eval/') ? series?.first : series?.opening, shownValue(metric, series)];
  if (!series || first === undefined || last === undefined) return `${label}: nothing measured yet.`;
  const change = last - first;
  const span = Math.max(...series.buckets.map((b) => b.max)) - Math.min(...series.buckets.map((b) => b.min));
  const moved = Math.abs(change) < 0.1 * span ? 'stayed near' : change > 0 ? 'rose to' : 'fell to';
  return `${label} ${moved} ${shownText(metric, last)}${unit && ` ${unit}`} from ${shownText(metric, first)} over ${series.length} updates.`;
}

/** The values of some curves of the live run at an update, in words. Only the first eight. */
export function wordsAt(metrics: readonly MetricName[], update: number): string {
  const { applied, wanted } = useConfig.getState();
  const readings = metrics.flatMap((metric) => {
    const read = readAt(traceOf(metric, null), update);
    if (!read) return [];
    const { label, unit } = metricWords(metric, applied ?? wanted);
    const then = read.update === update ? '' : ` at update ${read.update}`;
    return [`${label} ${shownText(metric, read.value)}${unit && ` ${unit}`}${then}`];
  });
  const more = readings.length - MAX_SPOKEN_CURVES;
  return `${readings.slice(0, MAX_SPOKEN_CURVES).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
