import type { Spend, Value } from './pythonValues.ts';

/** Parts of a template that one conversation may run: a second's worth. SmolLM2's runs 40 for each message, Qwen3's 150. */
const MOST_STEPS = 1 << 20;
/** Parts within parts, so that macros that call themselves end before the stack does. */
const MOST_DEPTH = 500;
/** Letters of a text, and entries of a list or dict, that a template may hold. */
const MOST_LETTERS = 1 << 20;
const MOST_ENTRIES = 1 << 17;
/** Letters, and entries, that cost as much as a step; and steps that a new entry, and a round of a loop, cost. */
const [LETTERS, ENTRIES] = [16, 16];
const [NEW_ENTRY, ROUND] = [1, 16];

/** What a template may still do, so that none runs for long or takes much memory. It counts what is done, not seconds, so that equal conversations end equally. */
export class JinjaBudget {
  #steps = 0;
  #depth = 0;

  /** Counts a step and the handling of so many letters. Throws RangeError where that is too much. */
  readonly spend: Spend = (letters) => {
    this.#steps += 1 + letters / LETTERS;
    if (this.#steps > MOST_STEPS) throw new RangeError(`the template takes over ${MOST_STEPS} steps`);
  };

  /** Begins a part; `leave` ends it. */
  enter(): void {
    this.spend(0);
    if (++this.#depth > MOST_DEPTH) throw new RangeError(`the template nests over ${MOST_DEPTH} deep`);
  }

  leave(): void {
    this.#depth--;
  }

  /** Counts a value that was made or read; throws RangeError on one that is too large. */
  hold({ value }: Value): void {
    if (typeof value === 'string') this.text(value.length);
    else if (Array.isArray(value)) this.entries(value.length);
    else if (value instanceof Map) this.entries(value.size);
  }

  /** Counts a text of so many letters. */
  text(letters: number): void {
    if (letters > MOST_LETTERS) throw new RangeError(`the template makes a text of over ${MOST_LETTERS} letters`);
    this.spend(letters);
  }

  /** Counts a list or dict of so many entries. */
  entries(entries: number): void {
    if (entries > MOST_ENTRIES) throw new RangeError(`the template makes a list of over ${MOST_ENTRIES} entries`);
    this.spend((entries / ENTRIES) * LETTERS);
  }

  /** Counts entries that a method makes. */
  made(entries: number): void {
    this.spend(entries * NEW_ENTRY * LETTERS);
  }

  /** Counts a loop of so many rounds, before it begins. */
  rounds(rounds: number): void {
    this.spend(rounds * ROUND * LETTERS);
  }

  /** Counts a search, which takes at worst the product of both. */
  search(letters: number, sought: number): void {
    this.spend((letters * sought) / LETTERS);
  }

  /** Counts all that a filter goes through: each entry of a list with its letters. Returns the letters. */
  through({ value }: Value): number {
    if (typeof value === 'string') return value.length;
    if (!Array.isArray(value)) return 0;
    let letters = 0;
    for (const entry of value) {
      const length = typeof entry.value === 'string' ? entry.value.length : 1;
      letters += length;
      this.spend(length);
    }
    return letters;
  }
}
