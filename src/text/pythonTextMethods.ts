/** What Python takes for white space (`str.isspace`). JavaScript's `trim` takes U+FEFF too, and neither U+001C to U+001F nor U+0085. */
const WHITE = /[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/; // oxlint-disable-line no-control-regex -- Python counts them
const LINE_END = /\r\n|[\n-\r\x1c-\x1e\x85\u2028\u2029]/; // oxlint-disable-line no-control-regex -- Python counts them

/** Arguments of a call, in order; a Map as the last holds those that were given by keyword. */
type Arguments = readonly unknown[];
type TextMethod = (text: string, args: Arguments) => unknown;

/**
 * Methods of Python's `str` that templates call and the Jinja library lacks or runs in another way
 * (https://docs.python.org/3/library/stdtypes.html#string-methods). They throw TypeError where Python does.
 */
export const TEXT_METHODS: ReadonlyMap<string, TextMethod> = new Map<string, TextMethod>([
  ['strip', (text, args) => stripped(text, args, true, true)],
  ['lstrip', (text, args) => stripped(text, args, true, false)],
  ['rstrip', (text, args) => stripped(text, args, false, true)],
  ['split', split],
  ['rsplit', splitFromTheEnd],
  ['splitlines', lines],
  ['replace', replaced],
  ['removeprefix', (text, [prefix]) => (text.startsWith(asText(prefix)) ? text.slice(asText(prefix).length) : text)],
  [
    'removesuffix',
    (text, [end]) => (text.endsWith(asText(end)) ? text.slice(0, text.length - asText(end).length) : text),
  ],
  ['capitalize', capitalized],
]);

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`a text is needed, not ${value === null ? 'None' : typeof value}`);
}

/** Without letters of `chars` (white space without it) at its ends. */
function stripped(text: string, [chars = null]: Arguments, left: boolean, right: boolean): string {
  const letters = Array.from(text);
  const set = chars === null ? null : new Set(asText(chars));
  const goes = (letter: string | undefined) => letter !== undefined && (set ? set.has(letter) : WHITE.test(letter));
  let [begin, end] = [0, letters.length];
  while (left && begin < end && goes(letters[begin])) begin++;
  while (right && begin < end && goes(letters[end - 1])) end--;
  return letters.slice(begin, end).join('');
}

/** The separator (null: white space) and the most splits of a call of `split` or `rsplit`. */
function splitting(args: Arguments): { readonly separator: string | null; readonly most: number } {
  const last = args.at(-1);
  const named = last instanceof Map ? (last as ReadonlyMap<unknown, { readonly value: unknown }>) : null;
  const placed = named ? args.slice(0, -1) : args;
  const separator = placed[0] ?? named?.get('sep')?.value ?? null;
  const most = placed[1] ?? named?.get('maxsplit')?.value ?? -1;
  if (typeof most !== 'number') throw new TypeError('maxsplit is no number');
  if (separator === '') throw new TypeError('an empty separator');
  return { separator: separator === null ? null : asText(separator), most: most < 0 ? Infinity : most };
}

function split(text: string, args: Arguments): readonly string[] {
  const { separator, most } = splitting(args);
  const parts: string[] = [];
  const regex = separator === null ? new RegExp(WHITE, 'g') : null;
  /** The next separator from `at` on, where it begins and ends. */
  const next = (at: number): readonly [number, number] | null => {
    if (separator === null) {
      regex!.lastIndex = at;
      const found = regex!.exec(text);
      return found && [found.index, found.index + 1];
    }
    const found = text.indexOf(separator, at);
    return found < 0 ? null : [found, found + separator.length];
  };
  const begun = (at: number) => {
    let first = at;
    while (separator === null && first < text.length && WHITE.test(text[first] ?? '')) first++;
    return first;
  };
  let at = begun(0);
  for (let found = next(at); parts.length < most && found; found = next(at)) {
    if (parts.length >= MOST_PARTS) throw new RangeError(`split: over ${MOST_PARTS} parts`);
    parts.push(text.slice(at, found[0]));
    at = begun(found[1]);
  }
  return separator === null && at >= text.length ? parts : [...parts, text.slice(at)];
}
const MOST_PARTS = 100_000;

/** Every `from` as `to`, or the first `count` of them. */
function replaced(text: string, args: Arguments): string {
  const last = args.at(-1);
  const named = last instanceof Map ? (last as ReadonlyMap<unknown, { readonly value: unknown }>) : null;
  const placed = named ? args.slice(0, -1) : args;
  const [from, to] = [asText(placed[0]), asText(placed[1])];
  const count = placed[2] ?? named?.get('count')?.value ?? -1;
  if (typeof count !== 'number') throw new TypeError('count is no number');
  const most = count < 0 ? Infinity : count;
  const letters = from === '' ? Array.from(text) : null;
  const grown = (times: number) => {
    if (text.length + times * to.length > MOST_GROWN) throw new RangeError(`replace: a text of over ${MOST_GROWN} letters`); // prettier-ignore
  };
  if (letters) {
    grown(Math.min(most, letters.length + 1));
    return [...letters, ''].map((letter, i) => (i < most ? to + letter : letter)).join('');
  }
  const parts: string[] = [];
  let at = 0;
  for (let found = text.indexOf(from); found >= 0 && parts.length / 2 < most; found = text.indexOf(from, at)) {
    parts.push(text.slice(at, found), to);
    grown(parts.length / 2);
    at = found + from.length;
  }
  return parts.join('') + text.slice(at);
}
const MOST_GROWN = 1 << 22;

const mirrored = (text: string): string => Array.from(text).reverse().join('');

function splitFromTheEnd(text: string, args: Arguments): readonly string[] {
  const { separator, most } = splitting(args);
  const from = separator === null ? null : mirrored(separator);
  return split(mirrored(text), [from, most]).map(mirrored).reverse();
}

function lines(text: string): readonly string[] {
  const parts = text.split(LINE_END, MOST_PARTS + 1);
  if (parts.length > MOST_PARTS) throw new RangeError(`splitlines: over ${MOST_PARTS} parts`);
  return parts.at(-1) === '' ? parts.slice(0, -1) : parts;
}

/** The first letter large, the others small. */
function capitalized(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}
