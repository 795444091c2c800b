const PREFIX = 'rollout-playground-run-';
/** A page that is being left gives its locks back a moment after the next one has come: so often, so far apart, it is looked again. */
const LOOKS = 6;
const LOOK_MS = 300;
const PATIENCE_MS = 5000;

/** Locks that the tabs of this browser share; absent on plain http, where only their ids keep two tabs apart. */
const locks = () => (navigator as Partial<Navigator>).locks;

/** A lock that was asked for. */
interface Asked {
  readonly held: Promise<boolean>; // false: another tab has it, or there are no locks
  readonly release: () => void; // releases the lock, or cancels the request
}

let own: string | null = null;
let lock: Asked | null = null; // of `own`

/** The slot where this tab saves its runs. It is created at the first call. A lock keeps other tabs off it while this tab is open. */
export function ownSaveSlot(): string {
  if (own === null) {
    own = freshSaveSlot();
    lock = ask(own);
  }
  return own;
}

/** A new slot, in which no run has been saved yet. */
export function freshSaveSlot(): string {
  const chance = crypto.getRandomValues(new Uint32Array(2));
  return `${Date.now().toString(36).padStart(9, '0')}-${[...chance].map((n) => n.toString(36)).join('')}`;
}

/** Takes over a slot: from now on this tab saves its run there. False if another tab has the slot, or if the browser has no locks to tell. */
export async function takeSaveSlot(slot: string): Promise<boolean> {
  if (slot === own) return true;
  const next = ask(slot);
  if (!(await next.held)) return false;
  lock?.release();
  [own, lock] = [slot, next];
  return true;
}

/** Whether no open tab saves its run in `slot`. True if the browser has no locks, because then it cannot be known. */
export async function isFree(slot: string): Promise<boolean> {
  if (slot === own) return false;
  const shared = locks();
  if (!shared) return true;
  // asked for what is held, and not for the lock: an answer that comes late on a busy machine is no less true
  for (let look = 0; look < LOOKS; look++) {
    const { held = [] } = await shared.query();
    if (!held.some(({ name }) => name === PREFIX + slot)) return true;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return false;
}

/** Requests the lock of `slot`, which keeps other tabs off it until released. */
function ask(slot: string): Asked {
  let release: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (release = resolve));
  const hasLock = new Promise<boolean>((resolve) => {
    const shared = locks();
    if (!shared) {
      resolve(false);
      return;
    }
    const keep = () => {
      resolve(true);
      return over;
    };
    shared.request(PREFIX + slot, { signal: AbortSignal.timeout(PATIENCE_MS) }, keep).catch(() => resolve(false));
  });
  return { held: hasLock, release };
}
