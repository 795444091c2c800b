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

/** A place in the letters of tokens. */
interface Letter {
  readonly next: Map<number, Letter>;
  token: FoundToken | null; // that ends here
}

/** Cuts a text at these tokens: at the first match, and of several there at the longest. A control token with a letter from `outside` stays plain text. */
export function finder(tokens: readonly FoundToken[]): (text: string, outside: readonly Span[]) => readonly Part[] {
  const root: Letter = { next: new Map(), token: null };
  for (const token of tokens) {
    let letter = root;
    for (let i = 0; i < token.content.length; i++) {
      const unit = token.content.charCodeAt(i);
      const next = letter.next.get(unit) ?? { next: new Map(), token: null };
      letter.next.set(unit, next);
      letter = next;
    }
    letter.token = token;
  }
  return (text, outside) => {
    const parts: Part[] = [];
    let end = 0;
    for (let at = 0; at < text.length; at++) {
      let found: FoundToken | null = null;
      let letter = root.next.get(text.charCodeAt(at));
      for (let i = at + 1; letter; letter = letter.next.get(text.charCodeAt(i++))) {
        const { token } = letter;
        if (token && !(token.control && touches(outside, at, i))) found = token;
      }
      if (!found) continue;
      if (at > end) parts.push({ text: text.slice(end, at), from: end, id: null });
      parts.push({ text: found.content, from: at, id: found.id });
      end = at + found.content.length;
      at = end - 1;
    }
    if (end < text.length) parts.push({ text: text.slice(end), from: end, id: null });
    return parts;
  };
}
