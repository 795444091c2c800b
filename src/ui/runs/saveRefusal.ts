import { checkpointBytes } from '../../runs/checkpoint.ts';
import type { Run } from '../../runs/run.ts';

const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** Why a browser would not save a run, in words, and what can be done about it. */
export async function saveRefusal(error: unknown, { checkpoint }: Run): Promise<string> {
  const why = (error instanceof Error ? error.message : String(error)) || 'the browser gave no reason';
  if (!(error instanceof DOMException && error.name === 'QuotaExceededError')) return why;
  const needs = `this browser’s storage is full. The run needs ${mib(checkpoint ? checkpointBytes(checkpoint) : 0)}`;
  return `${needs}${await room()}. Delete saved runs at the top of the lab or under Runs, or free disk space`;
}

/** How much this page may keep; '' where the browser does not say. */
async function room(): Promise<string> {
  try {
    const { usage, quota } = await navigator.storage.estimate();
    return usage === undefined || quota === undefined ? '' : `; ${mib(usage)} of ${mib(quota)} are used`;
  } catch {
    return ''; // absent on plain http
  }
}
