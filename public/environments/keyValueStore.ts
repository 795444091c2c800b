import type { Task } from './environment.d.ts';

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Find the key with the largest number, then remove it. */
export default class KeyValueStore {
  static tasks = { train: 500, test: 100 };
  static maxTurns = 5;
  static weights = { right: 1 };

  private store = new Map<string, number>();
  private read: string[] = [];
  private removed = '';
  done = false;

  reset({ draw }: Task): string {
    const numbers = draw.shuffle([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    this.store = new Map(
      draw
        .shuffle(KEYS)
        .slice(0, 3)
        .map((key, at) => [key, numbers[at] ?? 0]),
    );
    return `Keys ${[...this.store.keys()].join(' ')}`;
  }

  /**
   * Reads the number under a key.
   * @param key one of the keys
   */
  get(key: string): string {
    const value = this.store.get(key);
    if (value === undefined) throw new Error('There is no such key');
    this.read.push(key);
    return `${key} is ${value}`;
  }

  /**
   * Removes a key, which ends the task.
   * @param key one of the keys
   */
  remove(key: string): string {
    if (!this.store.has(key)) throw new Error('There is no such key');
    this.removed = key;
    this.done = true;
    return 'removed';
  }

  getReward() {
    return { right: this.removed === this.largest() ? 1 : 0 };
  }

  /** Reads every key once, then removes the one with the largest number. */
  expert() {
    const next = [...this.store.keys()].find((key) => !this.read.includes(key));
    return next === undefined
      ? { tool: 'remove', arguments: { key: this.largest() } }
      : { tool: 'get', arguments: { key: next } };
  }

  private largest(): string {
    return [...this.store].reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0];
  }
}
