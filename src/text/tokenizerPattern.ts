/** What stands for itself in both dialects after a backslash. */
const SAME = /^[nrtfv\\/.^$*+?()[\]{}|]/;
const PROPERTY = /^[pP]\{(?:L|Lu|Ll|Lt|Lm|Lo|N|Nd|Nl|No|M|Mn|Mc|Me|P|S|Z|Zs|Han|Hiragana|Katakana)\}/;
const SCRIPTS = /\{(Han|Hiragana|Katakana)\}/;
/** Letters beside its capital that a letter of ASCII folds with. */
const FOLDS: Readonly<Record<string, string>> = { s: '\u017f', k: '\u212a' };
const GROUP = /^\((?:\?(?:i:|:|!|=))?/;
const COUNT = /^(?:[?*+]|\{\d+(?:,\d*)?\})/;

/**
 * A regular expression as tokenizer.json has it (Oniguruma, with Unicode) as one of JavaScript that matches the same: `\s` is White_Space,
 * `\d` any decimal digit, `(?i:…)` is written out letter by letter. Only what is known to mean the same is taken: alternatives, groups,
 * lookahead, classes without classes in them, Unicode properties, greedy counts. Throws SyntaxError on anything else.
 */
export function translatePattern(pattern: string): RegExp {
  const out: string[] = [];
  const folds: boolean[] = []; // for each open group, whether letters fold in it
  let at = 0;
  let countable = false; // whether a count may follow
  while (at < pattern.length) {
    const rest = pattern.slice(at);
    const letter = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    const group = GROUP.exec(rest)?.[0];
    const count = COUNT.exec(rest)?.[0];
    if (group !== undefined) {
      if (group === '(' && rest.startsWith('(?')) throw new SyntaxError(`${rest.slice(0, 4)} at ${at}`);
      out.push(group === '(' || group === '(?i:' ? '(?:' : group);
      folds.push(group === '(?i:' || (folds.at(-1) ?? false));
      at += group.length;
    } else if (count !== undefined) {
      const after = pattern[at + count.length] ?? '';
      if (!countable || '?*+{'.includes(after || ' ')) throw new SyntaxError(`${count}${after} at ${at}`);
      out.push(count);
      at += count.length;
    } else if (letter === '[') {
      const [text, length] = classOf(pattern, at, folds.at(-1) ?? false);
      out.push(text);
      at += length;
    } else if (letter === '\\') {
      const [text, length] = escapeOf(pattern, at);
      out.push(text);
      at += length;
    } else {
      if (letter === ')' && folds.pop() === undefined) throw new SyntaxError(`) at ${at}`);
      if ('.^$]{}'.includes(letter)) throw new SyntaxError(`${letter} at ${at}`);
      out.push(folds.at(-1) === true ? folded(letter) : letter);
      at += letter.length;
    }
    countable = group === undefined && count === undefined && letter !== '|';
  }
  if (folds.length > 0) throw new SyntaxError('a group that is not closed');
  return new RegExp(out.join(''), 'gu');
}

/** A letter with all it folds with, as a class. */
function folded(letter: string): string {
  if (!/[A-Za-z]/.test(letter)) {
    if ((letter.codePointAt(0) ?? 0) > 0x7f) throw new SyntaxError(`${letter} in (?i:…)`);
    return letter;
  }
  return `[${letter.toLowerCase()}${letter.toUpperCase()}${FOLDS[letter.toLowerCase()] ?? ''}]`;
}

/** An escape in JavaScript and how many letters of the pattern it takes. */
function escapeOf(pattern: string, at: number): readonly [string, number] {
  const rest = pattern.slice(at + 1);
  const property = PROPERTY.exec(rest)?.[0];
  if (property !== undefined) return [`\\${property.replace(SCRIPTS, '{Script=$1}')}`, property.length + 1];
  if (SAME.test(rest)) return [`\\${rest[0] ?? ''}`, 2];
  switch (rest[0]) {
    case 's':
      return ['\\p{White_Space}', 2];
    case 'S':
      return ['\\P{White_Space}', 2];
    case 'd':
      return ['\\p{Nd}', 2];
    case "'":
    case '"':
    case '-':
      return [rest.startsWith('-') ? '\\x2d' : rest.slice(0, 1), 2];
  }
  throw new SyntaxError(`\\${rest.slice(0, 2)} at ${at}`);
}

/** A class `[…]` in JavaScript and how many letters of the pattern it takes. */
function classOf(pattern: string, start: number, fold: boolean): readonly [string, number] {
  const out = ['['];
  let at = start + 1;
  if (pattern.startsWith('^', at)) {
    out.push('^');
    at++;
  }
  const first = at;
  for (;;) {
    const letter = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    if (at >= pattern.length) throw new SyntaxError(`[ at ${start} that is not closed`);
    if (letter === ']' && at > first) break;
    if (letter === '[' || letter === ']' || pattern.startsWith('&&', at)) {
      throw new SyntaxError(`a class in a class at ${at}`);
    }
    if (fold && /[A-Za-z]/.test(letter)) throw new SyntaxError(`a class of letters in (?i:…) at ${at}`);
    if (letter === '\\') {
      const [text, length] = escapeOf(pattern, at);
      out.push(text);
      at += length;
    } else {
      out.push(/[(){}/|^$.*+?]/.test(letter) ? `\\${letter}` : letter);
      at += letter.length;
    }
  }
  return [`${out.join('')}]`, at + 1 - start];
}
