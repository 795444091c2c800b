import { parseResult, type RunResult } from '../../experiments/result.ts';
import { parseRequest, type FailedRun, type RunRequest } from './requests.ts';

const KEY = 'rollout-playground-experiments';
const VERSION = 1;

/** What outlives the page. */
export interface Stored {
  readonly waiting: readonly RunRequest[]; // the one under way is the first: after a reload it starts again
  readonly failed: readonly FailedRun[];
  readonly results: readonly RunResult[];
  readonly running: boolean;
}
const NOTHING: Stored = { waiting: [], failed: [], results: [], running: false };

/** Writes; a sentence when the browser would not, null when it did. */
export function save(stored: Stored): string | null {
  try {
    localStorage.setItem(KEY, JSON.stringify({ version: VERSION, ...stored }));
    return null;
  } catch (error) {
    const full = error instanceof DOMException && error.name === 'QuotaExceededError';
    const why = full ? 'this site’s storage is full' : 'the browser refuses storage to this page';
    return `Not saved: ${why}. The queue goes on, but a reload would lose it. Download the CSV before you close the page.`;
  }
}

/** Reads what was written, and a sentence about what could not be read. Unreadable text is put aside, not thrown away. */
export function load(): { readonly stored: Stored; readonly problem: string | null } {
  let text: string | null = null;
  try {
    text = localStorage.getItem(KEY);
    if (text === null) return { stored: NOTHING, problem: null };
    return read(JSON.parse(text));
  } catch (error) {
    if (text === null)
      return { stored: NOTHING, problem: 'Nothing will be saved: the browser refuses storage to this page.' };
    return putAside(text, error instanceof SyntaxError ? 'are damaged' : 'are of another version of this page');
  }
}

function read(value: unknown): { stored: Stored; problem: string | null } {
  const s = value as Partial<Record<keyof Stored | 'version', unknown>> | null;
  if (typeof s !== 'object' || s?.version !== VERSION) throw new Error('another version');
  const list = (x: unknown): unknown[] => (Array.isArray(x) ? x : []);
  const results = list(s.results);
  const readable = results.flatMap((x) => parseResult(x) ?? []);
  const lost = results.length - readable.length;
  return {
    stored: {
      waiting: list(s.waiting).flatMap((x) => parseRequest(x) ?? []),
      failed: list(s.failed).flatMap((x) => {
        const request = parseRequest(x);
        return request ? [{ ...request, message: String((x as { message?: unknown }).message) }] : [];
      }),
      results: readable,
      running: s.running === true,
    },
    problem: lost > 0 ? `${lost} stored results could not be read and were left out.` : null,
  };
}

function putAside(text: string, what: string): { stored: Stored; problem: string } {
  try {
    localStorage.setItem(`${KEY}-unreadable`, text);
  } catch {
    // where even this is refused, the sentence below is all that can be done
  }
  return { stored: NOTHING, problem: `The stored experiments ${what} and were put aside. The list starts anew.` };
}
