/** A range of a text in UTF-16 units; `to` is exclusive. */
export type Span = readonly [from: number, to: number];

/** A token that is found in text before the text is split into pieces. */
export interface FindableToken {
  readonly id: number;
  readonly content: string;
  readonly control: boolean; // true for special tokens and ends of turns, which are not found in text from outside
}

/** A part of a text: a token, or the text between two tokens. */
export interface TextPart {
  readonly text: string;
  readonly from: number; // where the part begins in the whole text
  readonly id: number | null; // id of the token; null: text between tokens
}

/** Whether a range overlaps a span of text from outside. The spans must be in order and must not overlap. */
export function overlaps(outside: readonly Span[], from: number, to: number): boolean {
  let [low, high] = [0, outside.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (outside[middle]![1] > from) high = middle;
    else low = middle + 1;
  }
  const first = outside[low];
  return first !== undefined && first[0] < to;
}

/** A node of a trie of the tokens' contents. */
interface TrieNode {
  readonly next: Map<number, TrieNode>; // by UTF-16 unit
  token: FindableToken | null; // the token that ends here
}

/**
 * Makes a function that splits a text into tokens and the text between them. From left to right it takes the longest
 * token at each place. A control token that overlaps a span of `outside` remains plain text.
 */
export function tokenFinder(
  tokens: readonly FindableToken[],
): (text: string, outside: readonly Span[]) => readonly TextPart[] {
  const root: TrieNode = { next: new Map(), token: null };
  for (const token of tokens) {
    let node = root;
    for (let i = 0; i < token.content.length; i++) {
      const unit = token.content.charCodeAt(i);
      const next = node.next.get(unit) ?? { next: new Map(), token: null };
      node.next.set(unit, next);
      node = next;
    }
    node.token = token;
  }
  return (text, outside) => {
    const parts: TextPart[] = [];
    let end = 0;
    for (let at = 0; at < text.length; at++) {
      let found: FindableToken | null = null;
      let node = root.next.get(text.charCodeAt(at));
      for (let i = at + 1; node; node = node.next.get(text.charCodeAt(i++))) {
        const { token } = node;
        if (token && !(token.control && overlaps(outside, at, i))) found = token;
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
