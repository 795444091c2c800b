import { create } from 'zustand';
import type { Facts } from '../../facts/facts.ts';
import { ProblemError, problemText } from '../../base/problem.ts';
import { useConfig } from '../knobs/configStore.ts';
import { setFacts } from './engine.ts';
import { keptText, putAside, readKeptText } from '../browser/keptText.ts';
import { notice } from '../browser/notices.ts';

interface FactsState {
  readonly facts: Facts | null; // facts that a run would ask about
  readonly notes: readonly string[]; // what was changed in them while reading
  readonly problems: readonly string[]; // why the last facts given could not be used
  readonly isStored: boolean; // stored in this browser
  readonly droppedFiles: number; // number of files dropped so far, readable or not
}

const NO_FACTS: FactsState = { facts: null, notes: [], problems: [], isStored: false, droppedFiles: 0 };
const STORAGE_KEY = 'rollout-playground-facts';

/** A person's own facts. Stored in this browser. */
export const useFacts = create<FactsState>()(() => NO_FACTS);

/** Whether the panel of facts is open: the knobs ask for facts, or facts were given, readable or not. */
export function useFactsOpen(): boolean {
  const isChosen = useConfig((s) => s.wanted.env === 'your-facts');
  const hasFacts = useFacts((s) => s.facts !== null || s.problems.length > 0);
  return isChosen || hasFacts;
}

export const hasFacts = (): boolean => useFacts.getState().facts !== null;

export type FactsInput = File | string;

/** Reads facts and stores them for the next visit. If they can't be used, the old facts stay and `problems` says why. */
export async function readFacts(input: FactsInput): Promise<void> {
  await loadFacts(async () => {
    const { checkSize } = await import('../../facts/decode.ts');
    if (typeof input === 'string') return { source: 'pasted text', content: input };
    checkSize(input.size); // before it is read
    return { source: input.name, content: new Uint8Array(await input.arrayBuffer()) };
  });
}

export async function restoreFacts(): Promise<void> {
  const stored = storage()?.getItem(STORAGE_KEY) ?? null;
  if (stored === null || useFacts.getState().facts) return;
  await loadFacts(() => Promise.resolve(parseStored(stored)));
  const { facts, problems } = useFacts.getState();
  if (facts) return;
  putAside(STORAGE_KEY); // stored by an older version of the page, or edited by hand
  deleteFacts();
  notice(`Your own facts could not be read again and were set aside: ${problems.join(' ')} Choose the file again.`);
}

function parseStored(text: string): { source: string; content: string } {
  const { source, content } = readKeptText(text, ['source', 'content']);
  if (typeof source === 'string' && typeof content === 'string') return { source, content };
  throw new RangeError('it has no facts');
}

export function deleteFacts(): void {
  storage()?.removeItem(STORAGE_KEY);
  setFacts(null);
  useFacts.setState(({ droppedFiles }) => ({ ...NO_FACTS, droppedFiles }));
}

async function loadFacts(readInput: () => Promise<{ source: string; content: Uint8Array | string }>): Promise<void> {
  try {
    const { source, content } = await readInput();
    const [{ parseFacts }, { decode }] = await Promise.all([
      import('../../facts/parse.ts'),
      import('../../facts/decode.ts'),
    ]);
    const text = decode(content);
    const { facts, notes } = parseFacts(source, text);
    setFacts(facts);
    useFacts.setState({ facts, notes, problems: [], isStored: store(source, text) });
  } catch (error) {
    const problems =
      error instanceof ProblemError
        ? error.problems.map(problemText)
        : [`They could not be read: ${error instanceof Error ? error.message : String(error)}.`];
    useFacts.setState({ problems });
  }
}

/** Stores the facts. False if the browser refuses storage; then the facts last as long as the page. */
function store(source: string, content: string): boolean {
  try {
    storage()?.setItem(STORAGE_KEY, keptText({ source, content }));
    return storage() !== null;
  } catch {
    return false;
  }
}

function storage(): Storage | null {
  try {
    return globalThis.localStorage;
  } catch {
    return null;
  }
}
