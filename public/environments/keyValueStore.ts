import type { Task } from './environment.d.ts';

const KEYS = ['red', 'green', 'blue', 'black', 'white', 'pink'];

/** A store keeps a number under each key. Find the key with the largest number, then delete it. */
export default class KeyValueStore {
  static tasks = { train: 500, test: 100 };
  static maxTurns = 8;
  static weights = { right: 1 };

  private store = new Map<string, number>();
  private largest = '';
  private deleted = '';
  done = false;

  reset({ draw }: Task): string {
    const keys = draw.shuffle(KEYS).slice(0, 4);
    const numbers = draw.shuffle([12, 27, 35, 48, 51, 66, 74, 89]);
    this.store = new Map(keys.map((key, at) => [key, numbers[at] ?? 0]));
    this.largest = keys.reduce((best, key) => ((this.store.get(key) ?? 0) > (this.store.get(best) ?? 0) ? key : best));
    return `Keys: ${keys.join(', ')}. Delete the one with the largest number.`;
  }

  /**
   * Reads the number under a key.
   * @param key one of the keys
   */
  get(key: string): string {
    const value = this.store.get(key);
    if (value === undefined) throw new Error(`There is no key ${key}.`);
    return String(value);
  }

  /**
   * Deletes a key, which ends the task.
   * @param key one of the keys
   */
  remove(key: string): string {
    if (!this.store.has(key)) throw new Error(`There is no key ${key}.`);
    this.deleted = key;
    this.done = true;
    return 'deleted';
  }

  getReward() {
    return { right: this.deleted === this.largest ? 1 : 0 };
  }

  private read: string[] = [];
  expert() {
    const next = [...this.store.keys()].find((key) => !this.read.includes(key));
    if (next === undefined) return { tool: 'remove', arguments: { key: this.largest } };
    this.read.push(next);
    return { tool: 'get', arguments: { key: next } };
  }
}
