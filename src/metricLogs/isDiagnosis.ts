import { isCount, isRecord } from '../base/jsonRecord.ts';
import { metricNamed } from '../domain/metrics.ts';
import type { Diagnosis } from './diagnosis.ts';
import { ILLNESSES } from './illnesses.ts';

const isText = (value: unknown): value is string => typeof value === 'string';
const areTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const isMetric = (value: unknown) => isText(value) && metricNamed(value) === value;

/** Whether a value, read from storage, is what the doctor said of a log. */
export function isDiagnosis(value: unknown): value is Diagnosis {
  if (!isRecord(value)) return false;
  const { entries, steps, findings, notJudged, notes, log } = value;
  const isPlain = isCount(entries) && Array.isArray(steps) && steps.length === 2 && steps.every(isCount);
  const isLog = log === null || (isRecord(log) && isText(log['program']) && areTexts(log['others']) && Array.isArray(log['read']) && log['read'].every((each) => isRecord(each) && isText(each['name']) && isMetric(each['metric']) && isText(each['difference']))); // prettier-ignore
  return isPlain && areTexts(notJudged) && areTexts(notes) && isLog && Array.isArray(findings) && findings.every(isFinding); // prettier-ignore
}

function isFinding(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { illness, title, state, from, until, evidence, metric } = value;
  const isKnown = isText(illness) && Object.hasOwn(ILLNESSES, illness) && isMetric(metric);
  const isSaid = isText(title) && isText(evidence) && (state === 'ok' || state === 'watch' || state === 'trap');
  return isKnown && isSaid && isCount(from) && isCount(until);
}
