import type { Diagnosis, Finding } from './diagnosis.ts';
import { type Illness, ILLNESSES } from './illnesses.ts';

const STATE_WORDS: Readonly<Record<Finding['state'], string>> = { ok: '', watch: 'WATCH: ', trap: 'TRAP: ' };

/** A finding in a line: the monitor's state, the name, the steps. */
export function findingTitle({ title, state, from, until }: Finding): string {
  return `${STATE_WORDS[state]}${title} (${from === until ? `update ${from}` : `updates ${from}–${until}`})`;
}

export function logText({ entries, steps: [first, last] }: Diagnosis): string {
  return entries === 0 ? 'no entries of training' : `${entries} entries of training, updates ${first}–${last}`;
}

/** For a log without findings. */
export function nothingFoundText({ judged }: Diagnosis): string {
  return `Nothing found. This log has the metrics for ${judged} of ${Object.keys(ILLNESSES).length} findings.`;
}

export function falseAlarmText({ alarms, runs }: Illness['falseAlarms']): string {
  return `False alarms: in ${alarms} of ${runs} healthy runs of this project.`;
}
