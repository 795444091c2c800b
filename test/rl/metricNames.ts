import { METRICS, type MetricName } from '../../src/domain/metrics.ts';

export function isMetricName(name: string): name is MetricName {
  return Object.hasOwn(METRICS, name);
}
