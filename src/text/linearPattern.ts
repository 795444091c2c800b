/** States of a pattern, and kinds of letters in it; published patterns have some 40 and 15. */
const MOST_STATES = 4096;
const MOST_KINDS = 256;
/** Bits that are kept for a text: 128 MB. */
const MOST_BITS = 2 ** 30;

/** What to do at a place of a text, and the state after it. */
type State =
  | { readonly kind: number; readonly next: number } // one letter of a kind
  | { readonly first: number; readonly second: number } // the first, or else the second
  | { readonly ahead: number; readonly not: boolean; readonly next: number }; // what follows matches, or must not
const END = -1;

/**
 * Finds matches in time linear in the text, whatever the pattern: what failed at a place is never tried there again (backtracking with a memo,
 * Norvig 1991). `source` is a regular expression of JavaScript as `translatePattern` writes it: letters, classes, groups, alternatives, lookahead and
 * greedy counts. Matches are those of JavaScript under the flags `gu`. The function returned gives where the first match at or after a place
 * begins and ends, or null; memory grows with the text. Throws RangeError if a pattern, or a text under
 * it, would take too much memory, and SyntaxError on counts of what may match nothing.
 */
export function linearPattern(source: string): (text: string, from: number) => readonly [number, number] | null {
  const { states, start, kinds } = compiled(source);
  const tests = kinds.map(letterTest);
  let text = '';
  let failed = new Uint32Array();
  let held = new Uint32Array(); // of lookahead: what matches

  /** Where a match that begins in a state at a place ends, −1 where none does; first choices first. */
  const run = (begin: number, from: number, ahead: boolean): number => {
    const choices: number[] = []; // state, place, and length of the path there
    const path: number[] = []; // bits of the states gone through
    let [state, place] = [begin, from];
    for (;;) {
      const bit = place * states.length + state;
      const known = state === END || (ahead && isSet(held, bit));
      if (known) {
        for (const each of path) {
          if (ahead) set(held, each);
          else unset(failed, each);
        }
        return place;
      }
      let next: number | null = null;
      if (!isSet(failed, bit)) {
        set(failed, bit); // until it is known better
        path.push(bit);
        const found = states[state]!;
        if ('first' in found) {
          choices.push(found.second, place, path.length);
          next = found.first;
        } else if ('kind' in found) {
          const letter = text.codePointAt(place);
          if (letter !== undefined && tests[found.kind]!(letter)) {
            place += letter > 0xffff ? 2 : 1;
            next = found.next;
          }
        } else if (run(found.ahead, place, true) >= 0 !== found.not) next = found.next;
      }
      if (next === null) {
        if (choices.length === 0) return -1;
        path.length = choices.pop()!;
        place = choices.pop()!;
        next = choices.pop()!;
      }
      state = next;
    }
  };

  return (whole, from) => {
    if (whole !== text || from === 0) {
      text = whole;
      const bits = (text.length + 1) * states.length;
      if (bits > MOST_BITS) throw new RangeError(`a text of ${text.length} letters under a pattern of ${states.length} states takes too much memory`); // prettier-ignore
      failed = new Uint32Array(Math.ceil(bits / 32));
      held = new Uint32Array(failed.length);
    }
    for (let at = from; at <= text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) {
      const end = run(start, at, false);
      if (end >= 0) return [at, end];
    }
    return null;
  };
}

const isSet = (bits: Uint32Array, bit: number) => ((bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0;
function set(bits: Uint32Array, bit: number): void {
  bits[bit >>> 5]! |= 1 << (bit & 31);
}
function unset(bits: Uint32Array, bit: number): void {
  bits[bit >>> 5]! &= ~(1 << (bit & 31));
}

/** Whether a letter is of a kind; asked once for each letter of the first plane. */
function letterTest(kind: string): (letter: number) => boolean {
  const regex = new RegExp(`^${kind}$`, 'u');
  const known = new Uint8Array(0x10000); // 0: not asked yet
  return (letter) => {
    if (letter > 0xffff) return regex.test(String.fromCodePoint(letter));
    known[letter] ||= regex.test(String.fromCharCode(letter)) ? 2 : 1;
    return known[letter] === 2;
  };
}

interface Compiled {
  readonly states: readonly State[];
  readonly start: number;
  readonly kinds: readonly string[]; // of letters, as regular expressions
}

/** A part of a pattern. */
interface Part {
  readonly empty: boolean; // it may match nothing
  /** Compiles it in front of the state that follows it. */
  readonly before: (next: number) => number;
}

const ATOM = /\\[pP]\{[^}]*\}|\\x[0-9a-fA-F]{2}|\\u\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|./suy;
const COUNT = /[?*+]|\{(\d+)(,?)(\d*)\}/y;

function compiled(source: string): Compiled {
  const states: State[] = [];
  const kinds = new Map<string, number>();
  let at = 0;
  const state = (of: State): number => {
    if (states.length >= MOST_STATES) throw new RangeError(`a pattern of over ${MOST_STATES} states`);
    return states.push(of) - 1;
  };
  const letter = (kind: string): Part => {
    const number = kinds.get(kind) ?? kinds.size;
    if (number >= MOST_KINDS) throw new RangeError(`a pattern with over ${MOST_KINDS} kinds of letters`);
    kinds.set(kind, number);
    return { empty: false, before: (next) => state({ kind: number, next }) };
  };
  const matched = (regex: RegExp) => {
    regex.lastIndex = at;
    const found = regex.exec(source);
    if (found) at += found[0].length;
    return found;
  };
  const alternatives = (): Part => {
    const parts = [sequence()];
    while (source[at] === '|') {
      at++;
      parts.push(sequence());
    }
    return {
      empty: parts.some(({ empty }) => empty),
      before: (next) =>
        parts.map(({ before }) => before(next)).reduceRight((second, first) => state({ first, second })),
    };
  };
  const sequence = (): Part => {
    const parts: Part[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(counted(atom()));
    return {
      empty: parts.every(({ empty }) => empty),
      before: (next) => parts.reduceRight((after, { before }) => before(after), next),
    };
  };
  const atom = (): Part => {
    const [group] = matched(/\((?:\?[:=!])?/y) ?? [];
    if (group === undefined) return letter(matched(ATOM)?.[0] ?? '');
    const inner = alternatives();
    at++; // the closing bracket
    if (group !== '(?=' && group !== '(?!') return inner;
    return { empty: true, before: (next) => state({ ahead: inner.before(END), not: group === '(?!', next }) };
  };
  const counted = (part: Part): Part => {
    const [sign, low = '', comma = '', high = ''] = matched(COUNT) ?? [];
    if (sign === undefined) return part;
    const least = low === '' ? Number(sign === '+') : Number(low);
    const most = low === '' ? (sign === '?' ? 1 : Infinity) : high !== '' ? Number(high) : comma === '' ? least : Infinity; // prettier-ignore
    if (Math.max(least, most === Infinity ? 0 : most) > MOST_STATES) throw new RangeError(`a count of over ${MOST_STATES}`); // prettier-ignore
    // engines differ in what a round of nothing is
    if (part.empty && most > 1) throw new SyntaxError('a count of what may be nothing');
    const before = (next: number) => {
      let after = next;
      if (most === Infinity) {
        const loop = state({ first: END, second: next });
        states[loop] = { first: part.before(loop), second: next };
        after = loop;
      } else for (let i = least; i < most; i++) after = state({ first: part.before(after), second: next });
      for (let i = 0; i < least; i++) after = part.before(after);
      return after;
    };
    return { empty: part.empty || least === 0, before };
  };
  const start = alternatives().before(END);
  // a pattern of nothing has no states, and is the end at once
  return { states: states.length > 0 ? states : [{ first: END, second: END }], start: start === END ? 0 : start, kinds: [...kinds.keys()] }; // prettier-ignore
}
