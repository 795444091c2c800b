import type { Spend, Value } from './pythonValues.ts';

/**
 * Maximum number of steps for one conversation; a step evaluates one node of the template. This takes about a second.
 * SmolLM2's template takes 40 steps per message, Qwen3's 150.
 */
const MAX_STEPS = 1 << 20;
/** Maximum depth of nested nodes, so that a recursive macro ends before the call stack overflows. */
const MAX_DEPTH = 500;
/** Maximum length of a text in a template, in characters. */
const MAX_CHARACTERS = 1 << 20;
/** Maximum number of entries of a list or dict in a template. */
const MAX_ENTRIES = 1 << 17;
/** Number of characters whose handling costs one step. */
const CHARACTERS_PER_STEP = 16;
/** Number of entries of a list or dict whose handling costs one step. */
const ENTRIES_PER_STEP = 16;
/** Cost of a new entry, in steps. */
const NEW_ENTRY_STEPS = 1;
/** Cost of an iteration of a loop, in steps. */
const ITERATION_STEPS = 16;

/**
 * Limits the time and memory that a template takes. It counts operations instead of seconds, so that equal
 * conversations give equal results.
 */
export class JinjaBudget {
  #steps = 0;
  #depth = 0;

  /** Counts a step, and the handling of `characters` characters. Throws RangeError if the budget is exceeded. */
  readonly spend: Spend = (characters) => {
    this.#steps += 1 + characters / CHARACTERS_PER_STEP;
    if (this.#steps > MAX_STEPS) throw new RangeError(`the template takes over ${MAX_STEPS} steps`);
  };

  /** Counts the beginning of a node; `leave` must follow at its end. Throws RangeError if nodes are nested too deep. */
  enter(): void {
    this.spend(0);
    if (++this.#depth > MAX_DEPTH) throw new RangeError(`the template nests over ${MAX_DEPTH} deep`);
  }

  leave(): void {
    this.#depth--;
  }

  /** Counts a value that was computed or read. Throws RangeError if it is too large. */
  countValue({ value }: Value): void {
    if (typeof value === 'string') this.countText(value.length);
    else if (Array.isArray(value)) this.countEntries(value.length);
    else if (value instanceof Map) this.countEntries(value.size);
  }

  /** Counts a text of `characters` characters. */
  countText(characters: number): void {
    if (characters > MAX_CHARACTERS)
      throw new RangeError(`the template makes a text of over ${MAX_CHARACTERS} characters`);
    this.spend(characters);
  }

  /** Counts a list or dict by the number of its entries. */
  countEntries(entries: number): void {
    if (entries > MAX_ENTRIES) throw new RangeError(`the template makes a list of over ${MAX_ENTRIES} entries`);
    this.spend((entries / ENTRIES_PER_STEP) * CHARACTERS_PER_STEP);
  }

  /** Counts new entries that a method creates. */
  countNewEntries(entries: number): void {
    this.spend(entries * NEW_ENTRY_STEPS * CHARACTERS_PER_STEP);
  }

  /** Counts a loop by the number of its iterations, before it begins. */
  countIterations(iterations: number): void {
    this.spend(iterations * ITERATION_STEPS * CHARACTERS_PER_STEP);
  }

  /**
   * Counts a search for a text of `sought` characters. The worst case takes time proportional to the product of both
   * lengths.
   */
  countSearch(characters: number, sought: number): void {
    this.spend((characters * sought) / CHARACTERS_PER_STEP);
  }

  /**
   * Counts the input of a filter, if it is a list: each entry with its length. Returns the total length of a text or
   * list.
   */
  countFilterInput({ value }: Value): number {
    if (typeof value === 'string') return value.length;
    if (!Array.isArray(value)) return 0;
    let characters = 0;
    for (const entry of value) {
      const length = typeof entry.value === 'string' ? entry.value.length : 1;
      characters += length;
      this.spend(length);
    }
    return characters;
  }
}
