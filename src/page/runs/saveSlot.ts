const LOCK_PREFIX = 'rollout-playground-run-';
/** How often `isFree` checks a lock: a page that is closing releases its locks shortly after the next page has opened. */
const MAX_CHECKS = 6;
const CHECK_MS = 300; // between two checks
const LOCK_TIMEOUT_MS = 5000;

/** The tabs of this browser share them. Absent on plain http; then two tabs differ only by their random slot names. */
const locks = () => (globalThis.navigator as Partial<Navigator> | undefined)?.locks;

interface LockRequest {
  readonly held: Promise<boolean>; // false: another tab has it, or there are no locks
  readonly release: () => void; // releases the lock, or cancels the request
}

let ownSlot: string | null = null; // this tab's slot
let lock: LockRequest | null = null; // of `ownSlot`

/** The slot is created at the first call. A lock keeps other tabs off it while this tab is open. */
export function ownSaveSlot(): string {
  if (ownSlot === null) {
    ownSlot = freshSaveSlot();
    lock = requestLock(ownSlot);
  }
  return ownSlot;
}

/** Leaves the slot, so that the run in it stays saved, for any tab to resume. From now on this tab saves in a new one. */
export function leaveSaveSlot(): void {
  lock?.release();
  [ownSlot, lock] = [null, null];
}

/** A new slot, in which no run has been saved yet. */
export function freshSaveSlot(): string {
  const random = crypto.getRandomValues(new Uint32Array(2));
  return `${Date.now().toString(36).padStart(9, '0')}-${[...random].map((n) => n.toString(36)).join('')}`;
}

/** From now on this tab saves its run there. False if another tab has the slot, or if there are no locks to tell. */
export async function takeSaveSlot(slot: string): Promise<boolean> {
  if (slot === ownSlot) return true;
  const next = requestLock(slot);
  if (!(await next.held)) return false;
  lock?.release();
  [ownSlot, lock] = [slot, next];
  return true;
}

/** Whether no open tab saves its run in `slot`. True if the browser has no locks, because then it cannot be known. */
export async function isFree(slot: string): Promise<boolean> {
  if (slot === ownSlot) return false;
  const shared = locks();
  if (!shared) return true;
  // list the held locks rather than request the lock, because a late answer on a busy machine is still right
  for (let check = 0; check < MAX_CHECKS; check++) {
    const { held = [] } = await shared.query();
    if (!held.some(({ name }) => name === LOCK_PREFIX + slot)) return true;
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
  }
  return false;
}

/** Requests the lock of `slot`, which keeps other tabs off it until released. */
function requestLock(slot: string): LockRequest {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const hasLock = new Promise<boolean>((resolve) => {
    const shared = locks();
    if (!shared) {
      resolve(false);
      return;
    }
    const holdLock = () => {
      resolve(true);
      return released;
    };
    shared
      .request(LOCK_PREFIX + slot, { signal: AbortSignal.timeout(LOCK_TIMEOUT_MS) }, holdLock)
      .catch(() => resolve(false));
  });
  return { held: hasLock, release };
}
