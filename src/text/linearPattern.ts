/** Maximum number of states of a pattern. Published patterns have about 40. */
const MAX_STATES = 4096;
/** Maximum number of character classes of a pattern. Published patterns have about 15. */
const MAX_CLASSES = 256;
/** Maximum size of the memo of a text, in bits: 128 MB. */
const MAX_MEMO_BITS = 2 ** 30;

/** A state of the automaton. It says what to try at a position of the text, and which state comes next. */
type State =
  | { readonly class: number; readonly next: number } // match one character of a class
  | { readonly first: number; readonly second: number } // try state `first`, then `second`
  | { readonly ahead: number; readonly not: boolean; readonly next: number }; // lookahead; `not`: it must not match
/** The accepting state. */
const END = -1;

/**
 * Compiles a pattern that is matched in time linear in the text: backtracking with a memo (Norvig 1991), so that a
 * state that failed at a position is never tried there again. `source` is a JavaScript regular expression as
 * `translatePattern` writes it: characters, classes, groups, alternatives, lookahead and greedy counts. Matches are the
 * same as in JavaScript with the flags `gu`. The returned function gives begin and end of the first match at or after a
 * position, or null. Its memory grows with the text. Throws RangeError if the pattern, or a text with it, would take
 * too much memory. Throws SyntaxError if a count repeats something that may match nothing.
 */
export function linearPattern(source: string): (text: string, from: number) => readonly [number, number] | null {
  const { states, start, classes } = compile(source);
  const tests = classes.map(classTest);
  let text = '';
  let failed = new Uint32Array(); // one bit per position and state: no match begins there
  let matchedAhead = new Uint32Array(); // one bit per position and state: a lookahead matches there

  /**
   * The end of the match that begins in state `begin` at position `from`; −1 if there is none. Earlier alternatives
   * have priority.
   */
  const run = (begin: number, from: number, ahead: boolean): number => {
    const choices: number[] = []; // untried alternatives, three numbers each: state, position, length of `path`
    const path: number[] = []; // bits of the positions and states on the current path
    let [state, place] = [begin, from];
    for (;;) {
      const bit = place * states.length + state;
      const matches = state === END || (ahead && isSet(matchedAhead, bit));
      if (matches) {
        for (const each of path) {
          if (ahead) set(matchedAhead, each);
          else unset(failed, each);
        }
        return place;
      }
      let next: number | null = null;
      if (!isSet(failed, bit)) {
        set(failed, bit); // counts as failed until it matches
        path.push(bit);
        const found = states[state]!;
        if ('first' in found) {
          choices.push(found.second, place, path.length);
          next = found.first;
        } else if ('class' in found) {
          const character = text.codePointAt(place);
          if (character !== undefined && tests[found.class]!(character)) {
            place += character > 0xffff ? 2 : 1;
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
      if (bits > MAX_MEMO_BITS) throw new RangeError(`a text of ${text.length} characters with a pattern of ${states.length} states takes too much memory`); // prettier-ignore
      failed = new Uint32Array(Math.ceil(bits / 32));
      matchedAhead = new Uint32Array(failed.length);
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

/** Makes a test for membership in a character class. Results for the basic plane (up to U+FFFF) are cached. */
function classTest(characterClass: string): (character: number) => boolean {
  const regex = new RegExp(`^${characterClass}$`, 'u');
  const cached = new Uint8Array(0x10000); // 0: not tested yet, 1: no member, 2: member
  return (character) => {
    if (character > 0xffff) return regex.test(String.fromCodePoint(character));
    cached[character] ||= regex.test(String.fromCharCode(character)) ? 2 : 1;
    return cached[character] === 2;
  };
}

interface Compiled {
  readonly states: readonly State[];
  readonly start: number;
  readonly classes: readonly string[]; // character classes, as regular expressions
}

/** A parsed part of a pattern. */
interface Part {
  readonly empty: boolean; // true: it may match nothing
  /** Compiles the part so that `next` is the state after it. Returns its first state. */
  readonly before: (next: number) => number;
}

const ATOM = /\\[pP]\{[^}]*\}|\\x[0-9a-fA-F]{2}|\\u\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|./suy;
const COUNT = /[?*+]|\{(\d+)(,?)(\d*)\}/y;

function compile(source: string): Compiled {
  const states: State[] = [];
  const classes = new Map<string, number>();
  let at = 0;
  const state = (of: State): number => {
    if (states.length >= MAX_STATES) throw new RangeError(`a pattern of over ${MAX_STATES} states`);
    return states.push(of) - 1;
  };
  const character = (characterClass: string): Part => {
    const number = classes.get(characterClass) ?? classes.size;
    if (number >= MAX_CLASSES) throw new RangeError(`a pattern with over ${MAX_CLASSES} character classes`);
    classes.set(characterClass, number);
    return { empty: false, before: (next) => state({ class: number, next }) };
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
    if (group === undefined) return character(matched(ATOM)?.[0] ?? '');
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
    if (Math.max(least, most === Infinity ? 0 : most) > MAX_STATES) throw new RangeError(`a count of over ${MAX_STATES}`); // prettier-ignore
    // engines differ in how they repeat something empty
    if (part.empty && most > 1) throw new SyntaxError('a count of something that may be empty');
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
  // an empty pattern has no states and begins in END
  return { states: states.length > 0 ? states : [{ first: END, second: END }], start: start === END ? 0 : start, classes: [...classes.keys()] }; // prettier-ignore
}
