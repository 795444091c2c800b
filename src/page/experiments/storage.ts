import { parseResult, type RunResult } from '../../experiments/runResult.ts';
import { keptText, readKeptText } from '../browser/keptText.ts';
import { OWN_NAME, ownExperiment, type OwnExperiment, type OwnExperiments } from './ownExperiment.ts';
import { parseRequest, type FailedRun, type RunRequest } from './requests.ts';

const STORAGE_KEY = 'rollout-playground-experiments';
const VERSION = 1;

export interface StoredQueue {
  readonly waiting: readonly RunRequest[]; // the first is the current run, which starts over after a reload
  readonly failed: readonly FailedRun[];
  readonly results: readonly RunResult[];
  readonly running: boolean;
  readonly own: OwnExperiments;
}
const EMPTY: StoredQueue = { waiting: [], failed: [], results: [], running: false, own: new Map() };

/** Stores the state. Returns null, or a sentence if the browser refuses. */
export function saveQueue(stored: StoredQueue): string | null {
  try {
    localStorage.setItem(
      STORAGE_KEY,
      keptText({ version: VERSION, ...stored, own: Array.from(stored.own, ([name, { text }]) => [name, text]) }),
    );
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

const STORED_FIELDS = ['version', 'waiting', 'failed', 'results', 'running', 'own'] as const satisfies (
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
    own: requireList(parsed.own ?? []), // older pages had none
  };
  const own: OwnExperiments = new Map(lists.own.map(readOwn).filter((x) => x !== null));
  const stored = {
    waiting: lists.waiting.flatMap((x) => parseRequest(x, own) ?? []),
    failed: lists.failed.flatMap((x) => {
      const request = parseRequest(x, own);
      const { message } = (x ?? {}) as { readonly message?: unknown };
      return request && typeof message === 'string' ? [{ ...request, message }] : [];
    }),
    results: lists.results.flatMap((x) => parseResult(x) ?? []),
    running: parsed.running,
  };
  const kept = { ...stored, own: [...own] };
  const lostCounts = (['results', 'waiting', 'failed', 'own'] as const)
    .map((name) => ({ name, count: lists[name].length - kept[name].length }))
    .filter(({ count }) => count > 0);
  const lostTexts = lostCounts.map(({ name, count }) => `${count} of ${lists[name].length} ${LIST_NAMES[name]}`);
  if (lists.own.length > own.size) keepUnreadable(text); // what a person wrote isn't lost
  return {
    stored: { ...stored, own },
    problem: lostCounts.length > 0 ? `${lostTexts.join(', ')} could not be read and were left out.` : null,
  };
}

const LIST_NAMES = {
  results: 'stored results',
  waiting: 'waiting runs',
  failed: 'failed runs',
  own: 'experiments of your own',
};

function readOwn(value: unknown): readonly [string, OwnExperiment] | null {
  const [name, text] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  if (typeof name !== 'string' || !OWN_NAME.test(name) || typeof text !== 'string') return null;
  try {
    return [name, ownExperiment(name, text)];
  } catch {
    return null; // its knobs or their rules have changed since
  }
}

function keepUnreadable(text: string): void {
  try {
    localStorage.setItem(`${STORAGE_KEY}-unreadable`, text);
  } catch {
    // storage is full or blocked; the sentence that follows is all that can be done
  }
}

function setAside(text: string, damageText: string): { stored: StoredQueue; problem: string } {
  keepUnreadable(text);
  return {
    stored: EMPTY,
    problem: `The stored experiments ${damageText} and can’t be read. A copy is kept; the list starts empty.`,
  };
}
