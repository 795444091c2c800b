import { create } from 'zustand';
import { putAside } from '../browser/keptText.ts';
import { notice } from '../browser/notices.ts';
import type { CurveName } from '../../domain/metrics.ts';
import type { Run } from '../../runs/run.ts';
import { droppableRuns } from './keepRule.ts';
import { type ListedRun, readRun, runText } from './keptRun.ts';
import type { RunLine } from './line.ts';

const KEY_PREFIX = 'rollout-playground-run-';
const LAST_ID_KEY = 'rollout-playground-runs-counted';
/** A run leaves the list when this many later ones have trained at least as long. */
export const MAX_RUNS = 24;
/** Largest number of runs drawn at once. More lines would be hard to tell apart. */
export const MAX_DRAWN_RUNS = 6;

/** A run from an earlier visit that can be resumed, or the reason why it can't. */
export interface ResumeOffer {
  readonly slot: string;
  readonly run: Run | null; // null if it cannot be read
  readonly order: number; // a later save has a higher number
  readonly savedAt: number; // ms since 1970
  readonly problem: string; // why it can't be resumed
}

interface RunsState {
  readonly runs: readonly ListedRun[]; // newest first
  readonly slots: readonly (number | null)[]; // for each line colour, the id of the run drawn in it
  readonly baseline: number | null;
  readonly deleted: ListedRun | null; // the run deleted last; `undelete` brings it back
  readonly comparisonRun: Run | null; // the arm of a comparison that trains now; drawn, but not listed until it is done
  readonly metric: CurveName;
  readonly problem: string | null; // why a run could not be kept in the list's storage
  readonly savedAt: number | null; // when the current run was last saved, in ms since 1970
  readonly savedUpdate: number | null; // update of the current run's last save
  readonly saveError: string; // why the current run cannot be saved; '' if nothing is wrong
  readonly replaced: Run | null; // the run that a new one just replaced; the page offers to bring it back
  readonly left: readonly Run[]; // the runs of this visit that others replaced, newest first, with the weights they had last
  readonly replacedSlot: string | null; // where `replaced` stays saved; null: it isn't
  readonly offers: readonly ResumeOffer[]; // newest first, without runs that are open in another tab
  readonly offersSearched: boolean; // whether the browser's database has been searched for offers
}

/** The list is kept in the browser's local storage. Whole runs are kept in its database; see `saving.ts`. */
export const useRuns = create<RunsState>()(() => ({
  runs: runsInStorage(),
  slots: Array.from({ length: MAX_DRAWN_RUNS }, () => null),
  baseline: null,
  deleted: null,
  comparisonRun: null,
  metric: 'rollout/success',
  problem: null,
  savedAt: null,
  savedUpdate: null,
  saveError: '',
  replaced: null,
  left: [],
  replacedSlot: null,
  offers: [],
  offersSearched: false,
}));

/** The runs kept in this browser, newest first. Runs that cannot be read are put aside and the person gets a notice. */
function runsInStorage(): ListedRun[] {
  try {
    const keys = Object.keys(globalThis.localStorage).filter((key) => key.startsWith(KEY_PREFIX));
    const runs = keys.map((key) => ({ key, run: readRun(localStorage.getItem(key) ?? '') }));
    const unreadable = runs.filter(({ run }) => !run);
    for (const { key } of unreadable) putAside(key);
    if (unreadable.length > 0) {
      const which = unreadable.map(({ key }) => key.slice(KEY_PREFIX.length)).join(', ');
      notice(
        `Some kept runs could not be read: ${which}. They are damaged or come from another version. A copy is kept.`,
      );
    }
    return runs.flatMap(({ run }) => run ?? []).sort((a, b) => b.id - a.id);
  } catch {
    return []; // without storage, runs last until the page is closed
  }
}

/** The number of the next run. Each call reads the counter in storage, so that no two tabs use the same number. */
export function nextId(): number {
  const { runs, deleted } = useRuns.getState();
  const id = Math.max(0, ...runs.map((run) => run.id), ...idsInStorage(), deleted?.id ?? 0) + 1;
  try {
    localStorage.setItem(LAST_ID_KEY, String(id));
  } catch {
    // without storage, tabs share no runs, so their numbers cannot collide
  }
  return id;
}

function idsInStorage(): number[] {
  try {
    const keys = Object.keys(globalThis.localStorage).filter((key) => key.startsWith(KEY_PREFIX));
    const ids = [...keys.map((key) => key.slice(KEY_PREFIX.length)), localStorage.getItem(LAST_ID_KEY) ?? ''];
    return ids.map(Number).filter((id) => Number.isSafeInteger(id) && id > 0);
  } catch {
    return [];
  }
}

/**
 * Puts a run into the list, or replaces its earlier state there. Deletes runs of which 24 later ones trained at least as
 * long. Of runs that an older page listed nobody knows how long they trained, so they stay. Returns the
 * run's number: a new one if another tab has already kept a different run under the old number.
 */
export function putRun(added: ListedRun): number {
  const run = isTakenByOther(added) ? { ...added, id: nextId() } : added;
  const { runs } = useRuns.getState();
  const others = runs.filter(({ id }) => id !== run.id);
  const next = [run, ...others].sort((a, b) => b.id - a.id);
  const trained = next.map(({ id, seconds = Infinity }) => ({ order: id, seconds }));
  const dropped = new Set(droppableRuns(trained, MAX_RUNS).map(({ order }) => order));
  for (const id of dropped) erase(id);
  useRuns.setState({ runs: next.filter(({ id }) => !dropped.has(id)), problem: write(run) });
  return run.id;
}

/** True if storage has a different run under this number. */
function isTakenByOther({ id, started }: Run): boolean {
  try {
    const storedRun = readRun(localStorage.getItem(`${KEY_PREFIX}${id}`) ?? '');
    return storedRun !== null && storedRun.started !== started;
  } catch {
    return false;
  }
}

/** Updates the list when another tab keeps or deletes a run. Returns a function that stops this. */
export function bindRuns(): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    if (key?.startsWith(KEY_PREFIX)) useRuns.setState({ runs: runsInStorage() });
  };
  addEventListener('storage', onStorage);
  return () => removeEventListener('storage', onStorage);
}

export function deleteRun(id: number): void {
  const { runs, slots, baseline } = useRuns.getState();
  const deleted = runs.find((run) => run.id === id);
  if (!deleted) return;
  erase(id);
  useRuns.setState({
    deleted,
    runs: runs.filter((run) => run !== deleted),
    slots: slots.map((slot) => (slot === id ? null : slot)),
    baseline: baseline === id ? null : baseline,
  });
}

export function undelete(): void {
  const { deleted } = useRuns.getState();
  if (deleted) putRun(deleted);
  useRuns.setState({ deleted: null });
}

/** The lines of the chart: the chosen runs, and the comparison run in training if a colour is free. */
export function drawnLines({
  runs,
  slots,
  comparisonRun,
}: Pick<RunsState, 'runs' | 'slots' | 'comparisonRun'>): readonly RunLine[] {
  const lines = slots.flatMap((id, slot): RunLine[] => {
    const run = runs.find((each) => each.id === id);
    return run ? [{ run, slot }] : [];
  });
  const freeSlot = slots.indexOf(null);
  return comparisonRun && freeSlot >= 0 ? [...lines, { run: comparisonRun, slot: freeSlot }] : lines;
}

/** The other runs keep their colours. Returns false if the chart has no room for another line. */
export function toggleShown(id: number): boolean {
  const { slots } = useRuns.getState();
  const isDrawn = slots.includes(id);
  const slotIndex = slots.indexOf(isDrawn ? id : null);
  if (slotIndex < 0) return false;
  useRuns.setState({ slots: slots.map((slot, i) => (i === slotIndex ? (isDrawn ? null : id) : slot)) });
  return true;
}

/** Stores a run. Returns null, or a message if the storage is full or blocked. */
function write(run: ListedRun): string | null {
  try {
    localStorage.setItem(`${KEY_PREFIX}${run.id}`, runText(run));
    return null;
  } catch {
    return 'Runs aren’t saved: this site’s storage is full or blocked. They last until you close the page. Delete some to make room.';
  }
}

function erase(id: number): void {
  try {
    localStorage.removeItem(`${KEY_PREFIX}${id}`);
  } catch {
    // if storage is blocked, the run was never stored
  }
}
