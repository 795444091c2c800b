import { parseResult, type RunResult } from '../../experiments/runResult.ts';
import { keptText, readKeptText } from '../browser/keptText.ts';
import { parseRequest, type FailedRun, type RunRequest } from './requests.ts';

const STORAGE_KEY = 'rollout-playground-experiments';
const VERSION = 1;

export interface StoredQueue {
  readonly waiting: readonly RunRequest[]; // the first is the current run, which starts over after a reload
  readonly failed: readonly FailedRun[];
  readonly results: readonly RunResult[];
  readonly running: boolean;
}
const EMPTY: StoredQueue = { waiting: [], failed: [], results: [], running: false };

/** Stores the state. Returns null, or a sentence if the browser refuses. */
export function saveQueue(stored: StoredQueue): string | null {
  try {
    localStorage.setItem(STORAGE_KEY, keptText({ version: VERSION, ...stored }));
    return null;
  } catch (error) {
    const full = error instanceof DOMException && error.name === 'QuotaExceededError';
    const reason = full ? 'this site’s storage is full' : 'the browser blocks storage for this page';
    return `Not saved: ${reason}. The queue continues, but a reload would lose it. Download the CSV before you close the page.`;
  }
}

/** `problem`: a sentence about what could not be read, or null. Unreadable text is copied to another key. */
export function loadQueue(): { readonly stored: StoredQueue; readonly problem: string | null } {
  let text: string | null = null;
  try {
    text = localStorage.getItem(STORAGE_KEY);
    if (text === null) return { stored: EMPTY, problem: null };
    return parseQueue(text);
  } catch (error) {
    if (text === null)
      return { stored: EMPTY, problem: 'Nothing will be saved: the browser blocks storage for this page.' };
    return setAside(text, error instanceof RangeError ? 'are damaged' : 'come from another version of this page');
  }
}

const STORED_FIELDS = ['version', 'waiting', 'failed', 'results', 'running'] as const satisfies (
  | keyof StoredQueue
  | 'version'
)[];

function parseQueue(text: string): { stored: StoredQueue; problem: string | null } {
  const parsed = readKeptText(text, STORED_FIELDS);
  if (parsed.version !== VERSION) throw new Error('another version');
  const requireList = (x: unknown): readonly unknown[] => {
    if (Array.isArray(x)) return x;
    throw new RangeError('it has no list');
  };
  if (typeof parsed.running !== 'boolean') throw new RangeError('it does not say whether it ran');
  const lists = {
    waiting: requireList(parsed.waiting),
    failed: requireList(parsed.failed),
    results: requireList(parsed.results),
  };
  const stored = {
    waiting: lists.waiting.flatMap((x) => parseRequest(x) ?? []),
    failed: lists.failed.flatMap((x) => {
      const request = parseRequest(x);
      const { message } = (x ?? {}) as { readonly message?: unknown };
      return request && typeof message === 'string' ? [{ ...request, message }] : [];
    }),
    results: lists.results.flatMap((x) => parseResult(x) ?? []),
    running: parsed.running,
  };
  const lostCounts = (['results', 'waiting', 'failed'] as const)
    .map((name) => ({ name, count: lists[name].length - stored[name].length }))
    .filter(({ count }) => count > 0);
  const lostTexts = lostCounts.map(({ name, count }) => `${count} of ${lists[name].length} ${LIST_NAMES[name]}`);
  return {
    stored,
    problem: lostCounts.length > 0 ? `${lostTexts.join(', ')} could not be read and were left out.` : null,
  };
}

const LIST_NAMES = { results: 'stored results', waiting: 'waiting runs', failed: 'failed runs' };

function setAside(text: string, damageText: string): { stored: StoredQueue; problem: string } {
  try {
    localStorage.setItem(`${STORAGE_KEY}-unreadable`, text);
  } catch {
    // storage is full or blocked; the sentence below is all that can be done
  }
  return {
    stored: EMPTY,
    problem: `The stored experiments ${damageText} and can’t be read. A copy is kept; the list starts empty.`,
  };
}
