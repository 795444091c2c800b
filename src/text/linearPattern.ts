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
    const untried: number[] = []; // untried alternatives, three numbers each: state, position, length of `path`
    const path: number[] = []; // bits of the positions and states on the current path
    let [state, position] = [begin, from];
    for (;;) {
      const bit = position * states.length + state;
      const matches = state === END || (ahead && isSet(matchedAhead, bit));
      if (matches) {
        for (const visited of path) {
          if (ahead) set(matchedAhead, visited);
          else unset(failed, visited);
        }
        return position;
      }
      let next: number | null = null;
      if (!isSet(failed, bit)) {
        set(failed, bit); // counts as failed until it matches
        path.push(bit);
        const current = states[state]!;
        if ('first' in current) {
          untried.push(current.second, position, path.length);
          next = current.first;
        } else if ('class' in current) {
          const character = text.codePointAt(position);
          if (character !== undefined && tests[current.class]!(character)) {
            position += character > 0xffff ? 2 : 1;
            next = current.next;
          }
        } else if (run(current.ahead, position, true) >= 0 !== current.not) next = current.next;
      }
      if (next === null) {
        if (untried.length === 0) return -1;
        path.length = untried.pop()!;
        position = untried.pop()!;
        next = untried.pop()!;
      }
      state = next;
    }
  };

  return (newText, from) => {
    if (newText !== text || from === 0) {
      text = newText;
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
  readonly canBeEmpty: boolean; // true: it may match nothing
  /** Compiles the part so that `next` is the state after it. Returns its first state. */
  readonly compileBefore: (next: number) => number;
}

const ATOM = /\\[pP]\{[^}]*\}|\\x[0-9a-fA-F]{2}|\\u\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|./suy;
const COUNT = /[?*+]|\{(\d+)(,?)(\d*)\}/y;

function compile(source: string): Compiled {
  const states: State[] = [];
  const classes = new Map<string, number>();
  let offset = 0;
  const state = (newState: State): number => {
    if (states.length >= MAX_STATES) throw new RangeError(`a pattern of over ${MAX_STATES} states`);
    return states.push(newState) - 1;
  };
  const classPart = (characterClass: string): Part => {
    const classIndex = classes.get(characterClass) ?? classes.size;
    if (classIndex >= MAX_CLASSES) throw new RangeError(`a pattern with over ${MAX_CLASSES} character classes`);
    classes.set(characterClass, classIndex);
    return { canBeEmpty: false, compileBefore: (next) => state({ class: classIndex, next }) };
  };
  const matchHere = (regex: RegExp) => {
    regex.lastIndex = offset;
    const match = regex.exec(source);
    if (match) offset += match[0].length;
    return match;
  };
  const alternatives = (): Part => {
    const parts = [sequence()];
    while (source[offset] === '|') {
      offset++;
      parts.push(sequence());
    }
    return {
      canBeEmpty: parts.some(({ canBeEmpty }) => canBeEmpty),
      compileBefore: (next) =>
        parts.map(({ compileBefore }) => compileBefore(next)).reduceRight((second, first) => state({ first, second })),
    };
  };
  const sequence = (): Part => {
    const parts: Part[] = [];
    while (offset < source.length && source[offset] !== '|' && source[offset] !== ')') parts.push(counted(atom()));
    return {
      canBeEmpty: parts.every(({ canBeEmpty }) => canBeEmpty),
      compileBefore: (next) => parts.reduceRight((after, { compileBefore }) => compileBefore(after), next),
    };
  };
  const atom = (): Part => {
    const [group] = matchHere(/\((?:\?[:=!])?/y) ?? [];
    if (group === undefined) return classPart(matchHere(ATOM)?.[0] ?? '');
    const inner = alternatives();
    offset++; // the closing bracket
    if (group !== '(?=' && group !== '(?!') return inner;
    return {
      canBeEmpty: true,
      compileBefore: (next) => state({ ahead: inner.compileBefore(END), not: group === '(?!', next }),
    };
  };
  const counted = (part: Part): Part => {
    const [sign, low = '', comma = '', high = ''] = matchHere(COUNT) ?? [];
    if (sign === undefined) return part;
    const minCount = low === '' ? Number(sign === '+') : Number(low);
    const maxCount = low === '' ? (sign === '?' ? 1 : Infinity) : high !== '' ? Number(high) : comma === '' ? minCount : Infinity; // prettier-ignore
    if (Math.max(minCount, maxCount === Infinity ? 0 : maxCount) > MAX_STATES) throw new RangeError(`a count of over ${MAX_STATES}`); // prettier-ignore
    // engines differ in how they repeat something empty
    if (part.canBeEmpty && maxCount > 1) throw new SyntaxError('a count of something that may be empty');
    const compileBefore = (next: number) => {
      let after = next;
      if (maxCount === Infinity) {
        const loop = state({ first: END, second: next });
        states[loop] = { first: part.compileBefore(loop), second: next };
        after = loop;
      } else
        for (let i = minCount; i < maxCount; i++) after = state({ first: part.compileBefore(after), second: next });
      for (let i = 0; i < minCount; i++) after = part.compileBefore(after);
      return after;
    };
    return { canBeEmpty: part.canBeEmpty || minCount === 0, compileBefore };
  };
  const start = alternatives().compileBefore(END);
  // an empty pattern has no states and begins in END
  return { states: states.length > 0 ? states : [{ first: END, second: END }], start: start === END ? 0 : start, classes: [...classes.keys()] }; // prettier-ignore
}
