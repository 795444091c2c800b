import { create } from 'zustand';
import { putAside } from '../parts/keptText.ts';
import { notice } from '../shell/notices.ts';
import type { Run } from '../../runs/run.ts';
import { type KeptMetric, readRun, textOf } from './keptRun.ts';

const KEY = 'rollout-playground-run-';
const COUNTED = 'rollout-playground-runs-counted';
/** Runs that the list holds. */
export const MOST_RUNS = 24;
/** Lines that can still be told apart. */
export const MOST_SHOWN = 6;

/** A run of an earlier visit: to go on with, or why that cannot be. */
export interface Offer {
  readonly slot: string;
  readonly run: Run | null; // null: it cannot be read
  readonly order: number; // later saves have higher ones
  readonly savedAt: number; // ms since 1970
  readonly problem: string;
}

interface RunsState {
  readonly runs: readonly Run[]; // newest first
  readonly slots: readonly (number | null)[]; // ids of the runs drawn, by the colour they have
  readonly baseline: number | null;
  readonly deleted: Run | null; // can be brought back
  readonly growing: Run | null; // trained to be compared, and drawn while it is; listed once it is done
  readonly metric: KeptMetric;
  readonly problem: string | null; // why something is not kept
  readonly savedAt: number | null; // ms since 1970, of the run under way
  readonly refused: string; // why it is not saved; ''
  readonly replaced: Run | null; // another took its place: it can be brought back
  readonly offers: readonly Offer[]; // newest first; none that another tab goes on with
}

/**
 * The runs of this page: those that are listed and which of them are compared, whether the one under way is saved, and those that can
 * be gone on with. Behind it lie the browser's storage, for the list, and its database, for whole runs: see `saving.ts`.
 */
export const useRuns = create<RunsState>()(() => ({
  runs: stored(),
  slots: Array.from({ length: MOST_SHOWN }, () => null),
  baseline: null,
  deleted: null,
  growing: null,
  metric: 'rollout/success',
  problem: null,
  savedAt: null,
  refused: '',
  replaced: null,
  offers: [],
}));

/** Runs of this browser, newest first; those that cannot be read are put aside, and that is told. */
function stored(): Run[] {
  try {
    const keys = Object.keys(globalThis.localStorage).filter((key) => key.startsWith(KEY));
    const runs = keys.map((key) => ({ key, run: readRun(localStorage.getItem(key) ?? '') }));
    const lost = runs.filter(({ run }) => !run);
    for (const { key } of lost) putAside(key);
    if (lost.length > 0) {
      const which = lost.map(({ key }) => key.slice(KEY.length)).join(', ');
      notice(
        `Some kept runs could not be read: ${which}. They are damaged or come from another version. A copy is kept.`,
      );
    }
    return runs.flatMap(({ run }) => run ?? []).sort((a, b) => b.id - a.id);
  } catch {
    return []; // no storage here: runs last as long as the page
  }
}

/** The number of the next run, given to no other tab: what storage has counted so far is looked at each time. */
export function nextId(): number {
  const { runs, deleted } = useRuns.getState();
  const id = Math.max(0, ...runs.map((run) => run.id), ...idsInStorage(), deleted?.id ?? 0) + 1;
  try {
    localStorage.setItem(COUNTED, String(id));
  } catch {
    // without storage there is nothing that tabs could share
  }
  return id;
}

function idsInStorage(): number[] {
  try {
    const keys = Object.keys(globalThis.localStorage).filter((key) => key.startsWith(KEY));
    const ids = [...keys.map((key) => key.slice(KEY.length)), localStorage.getItem(COUNTED) ?? ''];
    return ids.map(Number).filter((id) => Number.isSafeInteger(id) && id > 0);
  } catch {
    return [];
  }
}

/**
 * Puts a run into the list, or in place of what it was; the oldest beyond 24 are forgotten. Returns its number, which is another one
 * where a second tab has kept a run of its own under it.
 */
export function putRun(given: Run): number {
  const run = isAnothers(given) ? { ...given, id: nextId() } : given;
  const { runs } = useRuns.getState();
  const others = runs.filter(({ id }) => id !== run.id);
  const next = [run, ...others].sort((a, b) => b.id - a.id);
  for (const { id } of next.slice(MOST_RUNS)) erase(id);
  useRuns.setState({ runs: next.slice(0, MOST_RUNS), problem: write(run) });
  return run.id;
}

function isAnothers({ id, started }: Run): boolean {
  try {
    const there = readRun(localStorage.getItem(`${KEY}${id}`) ?? '');
    return there !== null && there.started !== started;
  } catch {
    return false;
  }
}

/** Follows what other tabs keep and forget. Returns a function that stops. */
export function bindRuns(): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    if (key?.startsWith(KEY)) useRuns.setState({ runs: stored() });
  };
  addEventListener('storage', onStorage);
  return () => removeEventListener('storage', onStorage);
}

/** Takes a run out of the list; `undelete` brings it back. */
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

/** Brings the run deleted last back. */
export function undelete(): void {
  const { deleted } = useRuns.getState();
  if (deleted) putRun(deleted);
  useRuns.setState({ deleted: null });
}

/** All runs that can be drawn over each other. */
export function comparable({ runs, growing }: Pick<RunsState, 'runs' | 'growing'>): readonly Run[] {
  return growing ? [...runs, growing] : runs;
}

/** Draws a run or takes it off the chart; the others keep their colours. False when there is no room for another line. */
export function toggleShown(id: number): boolean {
  const { slots } = useRuns.getState();
  const on = slots.includes(id);
  const at = slots.indexOf(on ? id : null);
  if (at < 0) return false;
  useRuns.setState({ slots: slots.map((slot, i) => (i === at ? (on ? null : id) : slot)) });
  return true;
}

function write(run: Run): string | null {
  try {
    localStorage.setItem(`${KEY}${run.id}`, textOf(run));
    return null;
  } catch {
    return 'Runs aren’t saved: this site’s storage is full or blocked. They last until you close the page. Delete some to make room.';
  }
}

function erase(id: number): void {
  try {
    localStorage.removeItem(`${KEY}${id}`);
  } catch {
    // what cannot be stored cannot have been stored
  }
}
