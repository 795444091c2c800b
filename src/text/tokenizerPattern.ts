/** Escaped characters that mean the same in both dialects of regular expressions. */
const SAME_ESCAPE = /^[nrtfv\\/.^$*+?()[\]{}|]/;
const PROPERTY = /^[pP]\{(?:L|Lu|Ll|Lt|Lm|Lo|N|Nd|Nl|No|M|Mn|Mc|Me|P|S|Z|Zs|Han|Hiragana|Katakana)\}/;
const SCRIPTS = /\{(Han|Hiragana|Katakana)\}/;
/** Characters outside ASCII that equal an ASCII letter if case is ignored. */
const CASE_VARIANTS: Readonly<Record<string, string>> = { s: '\u017f', k: '\u212a' };
const GROUP = /^\((?:\?(?:i:|:|!|=))?/;
const QUANTIFIER = /^(?:[?*+]|\{\d+(?:,\d*)?\})/;
const ONCE_AT_MOST = /^(?:\?|\{0*[01]\}|\{\d+,0*[01]\})$/;

/** A group of a pattern while it is read; the whole pattern is one too. */
interface Group {
  readonly ignoresCase: boolean;
  readonly isLookahead: boolean;
  alternativesCanBeEmpty: boolean; // one of the alternatives before this one may match nothing
  partsCanBeEmpty: boolean; // all parts of this alternative may match nothing
}

/**
 * Translates a regular expression of tokenizer.json (Oniguruma, with Unicode) into one of JavaScript with the same
 * matches: `\s` is White_Space, `\d` any decimal digit, and in `(?i:…)` each character becomes a class of its cases.
 * Supports only what is known to mean the same: alternatives, groups, lookahead, classes that are not nested, Unicode
 * properties and greedy counts of something that can't be empty. Throws SyntaxError on anything else.
 */
export function translatePattern(pattern: string): RegExp {
  const out: string[] = [];
  let group = newGroup(false, false);
  const outerGroups: Group[] = [];
  let lastCanBeEmpty: boolean | null = null; // whether the part before may match nothing; null: no part that a count may follow
  let at = 0;
  const beginPart = () => {
    group.partsCanBeEmpty &&= lastCanBeEmpty ?? true;
    lastCanBeEmpty = null;
  };
  const endAlternative = () => {
    beginPart();
    group.alternativesCanBeEmpty ||= group.partsCanBeEmpty;
    group.partsCanBeEmpty = true;
  };
  while (at < pattern.length) {
    const remaining = pattern.slice(at);
    const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    const opening = GROUP.exec(remaining)?.[0];
    const count = QUANTIFIER.exec(remaining)?.[0];
    if (opening !== undefined) {
      if (opening === '(' && remaining.startsWith('(?')) throw new SyntaxError(`${remaining.slice(0, 4)} at ${at}`);
      beginPart();
      out.push(opening === '(' || opening === '(?i:' ? '(?:' : opening);
      outerGroups.push(group);
      group = newGroup(opening === '(?i:' || group.ignoresCase, opening === '(?=' || opening === '(?!');
      at += opening.length;
    } else if (count !== undefined) {
      const after = pattern[at + count.length] ?? '';
      if (lastCanBeEmpty === null || '?*+{'.includes(after || ' ')) throw new SyntaxError(`${count}${after} at ${at}`);
      // engines differ in how they repeat something empty
      if (lastCanBeEmpty && !ONCE_AT_MOST.test(count)) throw new SyntaxError('a count of something that may be empty');
      if (/^(?:[?*]|\{0+[,}])/.test(count)) lastCanBeEmpty = true;
      out.push(count);
      at += count.length;
    } else if (character === '|') {
      endAlternative();
      out.push(character);
      at++;
    } else if (character === ')') {
      const outer = outerGroups.pop();
      if (!outer) throw new SyntaxError(`) at ${at}`);
      endAlternative();
      lastCanBeEmpty = group.isLookahead || group.alternativesCanBeEmpty;
      group = outer;
      out.push(character);
      at++;
    } else {
      if ('.^$]{}'.includes(character)) throw new SyntaxError(`${character} at ${at}`);
      const [text, length] =
        character === '['
          ? translateClass(pattern, at, group.ignoresCase)
          : character === '\\'
            ? translateEscape(pattern, at)
            : [group.ignoresCase ? caseClass(character) : character, character.length];
      beginPart();
      lastCanBeEmpty = false;
      out.push(text);
      at += length;
    }
  }
  if (outerGroups.length > 0) throw new SyntaxError('a group that is not closed');
  return new RegExp(out.join(''), 'gu');
}

function newGroup(ignoresCase: boolean, isLookahead: boolean): Group {
  return { ignoresCase, isLookahead, alternativesCanBeEmpty: false, partsCanBeEmpty: true };
}

/** A class that matches a character in either case. */
function caseClass(character: string): string {
  if (!/[A-Za-z]/.test(character)) {
    if ((character.codePointAt(0) ?? 0) > 0x7f) throw new SyntaxError(`${character} in (?i:…)`);
    return character;
  }
  return `[${character.toLowerCase()}${character.toUpperCase()}${CASE_VARIANTS[character.toLowerCase()] ?? ''}]`;
}

/** Translates the escape at `at`. Returns it and its length in the pattern. */
function translateEscape(pattern: string, at: number): readonly [string, number] {
  const remaining = pattern.slice(at + 1);
  const property = PROPERTY.exec(remaining)?.[0];
  if (property !== undefined) return [`\\${property.replace(SCRIPTS, '{Script=$1}')}`, property.length + 1];
  if (SAME_ESCAPE.test(remaining)) return [`\\${remaining[0] ?? ''}`, 2];
  switch (remaining[0]) {
    case 's':
      return ['\\p{White_Space}', 2];
    case 'S':
      return ['\\P{White_Space}', 2];
    case 'd':
      return ['\\p{Nd}', 2];
    case "'":
    case '"':
    case '-':
      return [remaining.startsWith('-') ? '\\x2d' : remaining.slice(0, 1), 2];
  }
  throw new SyntaxError(`\\${remaining.slice(0, 2)} at ${at}`);
}

/** Translates the class `[…]` at `start`. Returns it and its length in the pattern. */
function translateClass(pattern: string, start: number, ignoreCase: boolean): readonly [string, number] {
  const out = ['['];
  let at = start + 1;
  if (pattern.startsWith('^', at)) {
    out.push('^');
    at++;
  }
  const contentStart = at;
  for (;;) {
    const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    if (at >= pattern.length) throw new SyntaxError(`[ at ${start} that is not closed`);
    if (character === ']' && at > contentStart) break;
    if (character === '[' || character === ']' || pattern.startsWith('&&', at)) {
      throw new SyntaxError(`a class in a class at ${at}`);
    }
    if (ignoreCase && /[A-Za-z]/.test(character)) throw new SyntaxError(`a class with letters in (?i:…) at ${at}`);
    if (character === '\\') {
      const [text, length] = translateEscape(pattern, at);
      out.push(text);
      at += length;
    } else {
      out.push(/[(){}/|^$.*+?]/.test(character) ? `\\${character}` : character);
      at += character.length;
    }
  }
  return [`${out.join('')}]`, at + 1 - start];
}
