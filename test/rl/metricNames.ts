import { METRICS, type MetricName } from '../../src/metrics.ts';

export function isMetricName(name: string): name is MetricName {
  return Object.hasOwn(METRICS, name);
}
