import { parseResult, type RunResult } from '../../experiments/runResult.ts';
import { keptText, readKeptText } from '../parts/keptText.ts';
import { parseRequest, type FailedRun, type RunRequest } from './requests.ts';

const KEY = 'rollout-playground-experiments';
const VERSION = 1;

/** The part of the state that is stored in the browser. */
export interface Stored {
  readonly waiting: readonly RunRequest[]; // the first is the current run, which starts over after a reload
  readonly failed: readonly FailedRun[];
  readonly results: readonly RunResult[];
  readonly running: boolean;
}
const EMPTY: Stored = { waiting: [], failed: [], results: [], running: false };

/** Stores the state. Returns null, or a sentence if the browser refuses. */
export function save(stored: Stored): string | null {
  try {
    localStorage.setItem(KEY, keptText({ version: VERSION, ...stored }));
    return null;
  } catch (error) {
    const full = error instanceof DOMException && error.name === 'QuotaExceededError';
    const reason = full ? 'this site’s storage is full' : 'the browser blocks storage for this page';
    return `Not saved: ${reason}. The queue continues, but a reload would lose it. Download the CSV before you close the page.`;
  }
}

/**
 * Reads the stored state. `problem`: a sentence about what could not be read, or null. Unreadable text is copied to
 * another key.
 */
export function load(): { readonly stored: Stored; readonly problem: string | null } {
  let text: string | null = null;
  try {
    text = localStorage.getItem(KEY);
    if (text === null) return { stored: EMPTY, problem: null };
    return read(text);
  } catch (error) {
    if (text === null)
      return { stored: EMPTY, problem: 'Nothing will be saved: the browser blocks storage for this page.' };
    return putAside(text, error instanceof RangeError ? 'are damaged' : 'come from another version of this page');
  }
}

const FIELDS = ['version', 'waiting', 'failed', 'results', 'running'] as const satisfies (keyof Stored | 'version')[];

function read(text: string): { stored: Stored; problem: string | null } {
  const s = readKeptText(text, FIELDS);
  if (s.version !== VERSION) throw new Error('another version');
  const list = (x: unknown): readonly unknown[] => {
    if (Array.isArray(x)) return x;
    throw new RangeError('it has no list');
  };
  if (typeof s.running !== 'boolean') throw new RangeError('it does not say whether it ran');
  const lists = { waiting: list(s.waiting), failed: list(s.failed), results: list(s.results) };
  const stored = {
    waiting: lists.waiting.flatMap((x) => parseRequest(x) ?? []),
    failed: lists.failed.flatMap((x) => {
      const request = parseRequest(x);
      const { message } = (x ?? {}) as { readonly message?: unknown };
      return request && typeof message === 'string' ? [{ ...request, message }] : [];
    }),
    results: lists.results.flatMap((x) => parseResult(x) ?? []),
    running: s.running,
  };
  const lost = (['results', 'waiting', 'failed'] as const)
    .map((name) => ({ name, count: lists[name].length - stored[name].length }))
    .filter(({ count }) => count > 0);
  const words = lost.map(({ name, count }) => `${count} of ${lists[name].length} ${LIST_NAMES[name]}`);
  return { stored, problem: lost.length > 0 ? `${words.join(', ')} could not be read and were left out.` : null };
}

const LIST_NAMES = { results: 'stored results', waiting: 'waiting runs', failed: 'failed runs' };

function putAside(text: string, what: string): { stored: Stored; problem: string } {
  try {
    localStorage.setItem(`${KEY}-unreadable`, text);
  } catch {
    // storage is full or blocked; the sentence below is all that can be done
  }
  return {
    stored: EMPTY,
    problem: `The stored experiments ${what} and can’t be read. A copy is kept; the list starts empty.`,
  };
}
