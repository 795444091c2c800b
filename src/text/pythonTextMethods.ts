/**
 * White space in Python (`str.isspace`). JavaScript's `trim` also removes U+FEFF, but not U+001C to U+001F and U+0085.
 */
const WHITE_SPACE = /[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/; // oxlint-disable-line no-control-regex -- Python counts them
const LINE_END = /\r\n|[\n-\r\x1c-\x1e\x85\u2028\u2029]/; // oxlint-disable-line no-control-regex -- Python counts them

/** Arguments of a call, in order. Keyword arguments are in a Map at the end. */
type Arguments = readonly unknown[];
type TextMethod = (text: string, args: Arguments) => unknown;

/**
 * Methods of Python's `str` that templates call and that the Jinja library lacks or runs differently
 * (https://docs.python.org/3/library/stdtypes.html#string-methods). They throw TypeError in the same cases as Python.
 */
export const TEXT_METHODS: ReadonlyMap<string, TextMethod> = new Map<string, TextMethod>([
  ['strip', (text, args) => stripText(text, args, true, true)],
  ['lstrip', (text, args) => stripText(text, args, true, false)],
  ['rstrip', (text, args) => stripText(text, args, false, true)],
  ['split', split],
  ['rsplit', rsplit],
  ['splitlines', splitLines],
  ['replace', replaceText],
  ['removeprefix', (text, [prefix]) => (text.startsWith(asText(prefix)) ? text.slice(asText(prefix).length) : text)],
  [
    'removesuffix',
    (text, [end]) => (text.endsWith(asText(end)) ? text.slice(0, text.length - asText(end).length) : text),
  ],
  ['capitalize', capitalize],
]);

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`a text is needed, not ${value === null ? 'None' : typeof value}`);
}

/** Removes the characters in `chars`, by default white space, from the ends of a text. */
function stripText(text: string, [chars = null]: Arguments, left: boolean, right: boolean): string {
  const characters = Array.from(text);
  const removed = chars === null ? null : new Set(asText(chars));
  const isRemoved = (character: string | undefined) =>
    character !== undefined && (removed ? removed.has(character) : WHITE_SPACE.test(character));
  let [begin, end] = [0, characters.length];
  while (left && begin < end && isRemoved(characters[begin])) begin++;
  while (right && begin < end && isRemoved(characters[end - 1])) end--;
  return characters.slice(begin, end).join('');
}

/** The separator (null: white space) and the maximum number of splits from the arguments of `split` or `rsplit`. */
function splitArguments(args: Arguments): { readonly separator: string | null; readonly maxSplits: number } {
  const last = args.at(-1);
  const keywords = last instanceof Map ? (last as ReadonlyMap<unknown, { readonly value: unknown }>) : null;
  const positional = keywords ? args.slice(0, -1) : args;
  const separator = positional[0] ?? keywords?.get('sep')?.value ?? null;
  const maxSplits = positional[1] ?? keywords?.get('maxsplit')?.value ?? -1;
  if (typeof maxSplits !== 'number') throw new TypeError('maxsplit is not a number');
  if (separator === '') throw new TypeError('an empty separator');
  return { separator: separator === null ? null : asText(separator), maxSplits: maxSplits < 0 ? Infinity : maxSplits };
}

function split(text: string, args: Arguments): readonly string[] {
  const { separator, maxSplits } = splitArguments(args);
  const parts: string[] = [];
  const regex = separator === null ? new RegExp(WHITE_SPACE, 'g') : null;
  /** Begin and end of the next separator at or after `at`; null if there is none. */
  const nextSeparator = (at: number): readonly [number, number] | null => {
    if (separator === null) {
      regex!.lastIndex = at;
      const found = regex!.exec(text);
      return found && [found.index, found.index + 1];
    }
    const found = text.indexOf(separator, at);
    return found < 0 ? null : [found, found + separator.length];
  };
  const partStart = (at: number) => {
    let first = at;
    while (separator === null && first < text.length && WHITE_SPACE.test(text[first] ?? '')) first++;
    return first;
  };
  let at = partStart(0);
  for (let found = nextSeparator(at); parts.length < maxSplits && found; found = nextSeparator(at)) {
    parts.push(text.slice(at, found[0]));
    at = partStart(found[1]);
  }
  return separator === null && at >= text.length ? parts : [...parts, text.slice(at)];
}

/** Replaces all occurrences of a text by another, or the first `count` occurrences. */
function replaceText(text: string, args: Arguments): string {
  const last = args.at(-1);
  const keywords = last instanceof Map ? (last as ReadonlyMap<unknown, { readonly value: unknown }>) : null;
  const positional = keywords ? args.slice(0, -1) : args;
  const [search, replacement] = [asText(positional[0]), asText(positional[1])];
  const count = positional[2] ?? keywords?.get('count')?.value ?? -1;
  if (typeof count !== 'number') throw new TypeError('count is not a number');
  const maxReplacements = count < 0 ? Infinity : count;
  const parts = search === '' ? ['', ...Array.from(text), ''] : text.split(search);
  const kept = parts.slice(maxReplacements + 1).map((part) => search + part);
  return parts.slice(0, maxReplacements + 1).join(replacement) + kept.join('');
}

const reversed = (text: string): string => Array.from(text).reverse().join('');

function rsplit(text: string, args: Arguments): readonly string[] {
  const { separator, maxSplits } = splitArguments(args);
  const reversedSeparator = separator === null ? null : reversed(separator);
  return split(reversed(text), [reversedSeparator, maxSplits]).map(reversed).reverse();
}

function splitLines(text: string): readonly string[] {
  const parts = text.split(LINE_END);
  return parts.at(-1) === '' ? parts.slice(0, -1) : parts;
}

/** Makes the first letter upper case and the others lower case. */
function capitalize(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}
