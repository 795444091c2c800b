import type { Task } from './environment.d.ts';

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const VALUES = 'tea milk rice salt soap figs eggs bread corn beans oats plums'.split(' ');

/** Find the key that holds the given value, then remove it. */
export default class KeyValueStore {
  static tasks = { train: 100_000, test: 100 };
  static maxTurns = 4;
  static weights = { right: 1 };

  private store = new Map<string, string>();
  private wanted = '';
  private read: string[] = [];
  private removed = '';
  done = false;

  reset({ draw }: Task): string {
    const keys = draw.shuffle(KEYS).slice(0, 3);
    const values = draw.shuffle(VALUES);
    this.store = new Map(keys.map((key, at) => [key, values[at] ?? '']));
    this.wanted = draw.pick([...this.store.values()]);
    return `${keys.join(' ')} remove ${this.wanted}`;
  }

  /**
   * Reads the value of a key.
   * @param key one of the three keys
   */
  get(key: string): string {
    const value = this.store.get(key);
    if (value === undefined) throw new Error('no such key');
    this.read.push(key);
    return `${key} holds ${value}`;
  }

  /**
   * Removes a key, which ends the task.
   * @param key one of the three keys
   */
  remove(key: string): string {
    if (!this.store.has(key)) throw new Error('no such key');
    this.removed = key;
    this.done = true;
    return 'removed';
  }

  getReward() {
    return { right: this.store.get(this.removed) === this.wanted ? 1 : 0 };
  }

  /** Reads one key after another until it knows which one holds the value, then removes that key. */
  expert() {
    const keys = [...this.store.keys()];
    const found = this.read.find((key) => this.store.get(key) === this.wanted);
    const next = keys.filter((key) => !this.read.includes(key));
    // if only one key is unread, it holds the value
    const last = next.length === 1 ? next[0] : undefined;
    const removed = found ?? last;
    if (removed !== undefined) return { tool: 'remove', arguments: { key: removed } };
    return { tool: 'get', arguments: { key: next[0] ?? '' } };
  }
}
