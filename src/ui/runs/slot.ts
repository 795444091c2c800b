const PREFIX = 'rollout-playground-run-';
/** A page that is being left gives its locks back a moment after the next one has come: so often, so far apart, it is looked again. */
const LOOKS = 6;
const LOOK_MS = 300;
const PATIENCE_MS = 5000;

/** Locks that the tabs of this browser share; absent on plain http, where only their ids keep two tabs apart. */
const locks = () => (navigator as Partial<Navigator>).locks;

let own: string | null = null;
let release: () => void = () => undefined;

/** Where this tab saves its runs: a place of its own, named at the first call by when and by chance, and kept from other tabs while this one is open. */
export function ownSlot(): string {
  if (own === null) {
    own = freshSlot();
    void hold(own);
  }
  return own;
}

/** A place that no run was saved at yet. */
export function freshSlot(): string {
  const chance = crypto.getRandomValues(new Uint32Array(2));
  return `${Date.now().toString(36).padStart(9, '0')}-${[...chance].map((n) => n.toString(36)).join('')}`;
}

/** Whether the run kept at `slot` goes on in this tab, saved there from now on; false where another tab has it, or where nobody can tell. */
export async function takeSlot(slot: string): Promise<boolean> {
  if (slot === own) return true;
  const before = release;
  if (!(await hold(slot))) return false;
  before();
  own = slot;
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

/** Keeps `slot` from others until another one is held; false where somebody has it, or where there are no locks. */
function hold(slot: string): Promise<boolean> {
  const shared = locks();
  if (!shared) return Promise.resolve(false);
  return new Promise((resolve) => {
    const held = () => {
      resolve(true);
      return new Promise<void>((done) => (release = done));
    };
    shared.request(PREFIX + slot, { signal: AbortSignal.timeout(PATIENCE_MS) }, held).catch(() => resolve(false));
  });
}
