import type { Task } from './environment.d.ts';

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const VALUES = 'tea milk rice salt soap figs eggs bread corn beans oats plums nuts jam'.split(' ');

/** Find the value at the end of a chain: a key holds a value, or the name of the key to read next. */
export default class KeyValueStore {
  static tasks = { train: 100_000, test: 100 };
  static maxTurns = 4;
  static weights = { right: 1 };

  private store = new Map<string, string>();
  private wanted = '';
  private latest = '';
  private answered = '';
  done = false;

  reset({ draw }: Task): string {
    const keys = draw.shuffle(KEYS).slice(0, 3);
    const values = draw.shuffle(VALUES);
    // one to three keys are in the chain; the others hold other values
    const length = draw.pick([1, 2, 3]);
    this.store = new Map(keys.map((key, at) => [key, (at < length - 1 && keys[at + 1]) || (values[at] ?? '')]));
    this.wanted = values[length - 1] ?? '';
    this.latest = keys[0] ?? '';
    return `keys ${draw.shuffle(keys).join(' ')} start ${this.latest}`;
  }

  /**
   * Reads what a key holds.
   * @param key a key of the store
   */
  get(key: string): string {
    const held = this.store.get(key);
    if (held === undefined) throw new Error('no such key');
    this.latest = held;
    return held;
  }

  /**
   * Gives the answer, which ends the task.
   * @param value the value at the end of the chain
   */
  submit(value: string): string {
    this.answered = value;
    this.done = true;
    return 'thanks';
  }

  getReward() {
    return { right: this.answered === this.wanted ? 1 : 0 };
  }

  /** Reads key after key until one holds a value, then answers with it. */
  expert() {
    if (this.store.has(this.latest)) return { tool: 'get', arguments: { key: this.latest } };
    return { tool: 'submit', arguments: { value: this.latest } };
  }
}
