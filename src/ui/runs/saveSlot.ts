const PREFIX = 'rollout-playground-run-';
/** A page that is being left gives its locks back a moment after the next one has come: so often, so far apart, it is looked again. */
const LOOKS = 6;
const LOOK_MS = 300;
const PATIENCE_MS = 5000;

/** Locks that the tabs of this browser share; absent on plain http, where only their ids keep two tabs apart. */
const locks = () => (navigator as Partial<Navigator>).locks;

/** A lock that was asked for. */
interface Asked {
  readonly held: Promise<boolean>; // false: somebody has it, or there are no locks
  readonly release: () => void; // it is given back, or not taken where it comes later
}

let own: string | null = null;
let lock: Asked | null = null; // of `own`

/** Where this tab saves its runs: a place of its own, named at the first call, and kept from other tabs while this one is open. */
export function ownSaveSlot(): string {
  if (own === null) {
    own = freshSaveSlot();
    lock = ask(own);
  }
  return own;
}

/** A place that no run was saved at yet. */
export function freshSaveSlot(): string {
  const chance = crypto.getRandomValues(new Uint32Array(2));
  return `${Date.now().toString(36).padStart(9, '0')}-${[...chance].map((n) => n.toString(36)).join('')}`;
}

/** Whether the run kept at `slot` goes on in this tab, saved there from now on; false where another tab has it, or where nobody can tell. */
export async function takeSaveSlot(slot: string): Promise<boolean> {
  if (slot === own) return true;
  const next = ask(slot);
  if (!(await next.held)) return false;
  lock?.release();
  [own, lock] = [slot, next];
  return true;
}

/** Whether no open tab saves its run at `slot`. Where there are no locks nobody can tell: yes. */
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

/** Asks for the lock of `slot`, which keeps it from others until it is released. */
function ask(slot: string): Asked {
  let release: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (release = resolve));
  const held = new Promise<boolean>((resolve) => {
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
  return { held, release };
}
