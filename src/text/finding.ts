/** A part of a text, from its first letter up to but without its last, in UTF-16 units. */
export type Span = readonly [from: number, to: number];

/** A token that is found in text before anything is cut. */
export interface FoundToken {
  readonly id: number;
  readonly content: string;
  readonly control: boolean; // a special token or the end of a turn: never found in what came from outside
}

/** A part of a text: a token by its id, or what lies between tokens, which has none. */
export interface Part {
  readonly text: string;
  readonly from: number;
  readonly id: number | null;
}

/** Whether a part of a text has a letter that came from outside. The spans are in order and apart. */
export function touches(outside: readonly Span[], from: number, to: number): boolean {
  let [low, high] = [0, outside.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (outside[middle]![1] > from) high = middle;
    else low = middle + 1;
  }
  const first = outside[low];
  return first !== undefined && first[0] < to;
}

/** Cuts a text at these tokens, the longest of those that begin first. A control token that has a letter from `outside` is none. */
export function finder(tokens: readonly FoundToken[]): (text: string, outside: readonly Span[]) => readonly Part[] {
  const byContent = new Map(tokens.map((token) => [token.content, token]));
  const longestFirst = [...byContent.values()].sort((a, b) => b.content.length - a.content.length);
  if (longestFirst.length === 0) return (text) => (text === '' ? [] : [{ text, from: 0, id: null }]);
  const escaped = longestFirst.map(({ content }) => content.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  const source = escaped.join('|');
  return (text, outside) => {
    const regex = new RegExp(source, 'gu');
    const parts: Part[] = [];
    let end = 0;
    for (let match = regex.exec(text); match; match = regex.exec(text)) {
      const { index } = match;
      const found = longestFirst.find(
        ({ content, control }) =>
          content.length <= match[0].length &&
          text.startsWith(content, index) &&
          !(control && touches(outside, index, index + content.length)),
      );
      if (!found) {
        regex.lastIndex = index + 1;
        continue;
      }
      if (index > end) parts.push({ text: text.slice(end, index), from: end, id: null });
      parts.push({ text: found.content, from: index, id: found.id });
      end = index + found.content.length;
      regex.lastIndex = end;
    }
    if (end < text.length) parts.push({ text: text.slice(end), from: end, id: null });
    return parts;
  };
}
