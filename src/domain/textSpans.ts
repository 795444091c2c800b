import { type Kind, Role } from './tokens.ts';

/** A token of a text: a chat's, or a piece of a rollout's. */
export interface TextToken {
  readonly text: string; // what it adds to the text
  readonly role: Role;
  readonly turn: number; // of the agent, from 1; 0 in the prompt
  readonly special: boolean; // of the template: the end of a turn, say
}

/** A stretch of text that ends with a line, so that blocks one below the other read as the text itself. */
export interface Block<T extends TextToken = TextToken> {
  readonly from: number; // its first token
  readonly tokens: readonly T[];
}

/** Consecutive tokens of one kind. */
export interface Passage<T extends TextToken = TextToken> {
  readonly kind: Kind;
  readonly turn: number;
  readonly from: number;
  readonly count: number; // of tokens
  readonly blocks: readonly Block<T>[];
}

/** Passages with tokens added; those that nothing was added to stay the same objects, so that they are not drawn again. */
export function extended<T extends TextToken>(
  before: readonly Passage<T>[],
  tokens: readonly T[],
): readonly Passage<T>[] {
  const passages = [...before];
  for (const token of tokens) {
    const last = passages.at(-1);
    const from = last ? last.from + last.count : 0;
    const kind = kindOf(last, token);
    if (last?.kind === kind && last.turn === token.turn) passages[passages.length - 1] = longer(last, token);
    else passages.push({ kind, turn: token.turn, from, count: 1, blocks: [{ from, tokens: [token] }] });
    openTag(passages);
  }
  return passages;
}

/** Passages without the tokens from `count` on. */
export function cutAt<T extends TextToken>(passages: readonly Passage<T>[], count: number): readonly Passage<T>[] {
  return passages.flatMap((passage) => {
    if (passage.from + passage.count <= count) return [passage];
    if (passage.from >= count) return [];
    const blocks = passage.blocks
      .filter(({ from }) => from < count)
      .map(({ from, tokens }) => ({ from, tokens: tokens.slice(0, count - from) }));
    return [{ ...passage, count: count - passage.from, blocks }];
  });
}

/** The token at a place; undefined if there is none. */
export function tokenAt<T extends TextToken>(passages: readonly Passage<T>[], at: number): T | undefined {
  const passage = passages.find(({ from, count }) => at >= from && at < from + count);
  const block = passage?.blocks.findLast(({ from }) => from <= at);
  return block?.tokens[at - block.from];
}

function longer<T extends TextToken>(passage: Passage<T>, token: T): Passage<T> {
  const last = passage.blocks.at(-1);
  const anew = last?.tokens.at(-1)?.text.endsWith('\n') ?? true;
  const blocks =
    anew || !last
      ? [...passage.blocks, { from: passage.from + passage.count, tokens: [token] }]
      : [...passage.blocks.slice(0, -1), { from: last.from, tokens: [...last.tokens, token] }];
  return { ...passage, count: passage.count + 1, blocks };
}

/** Who speaks; of the agent's own words a thought or a call ends with its closing tag and the line that it stands in. */
function kindOf(last: Passage | undefined, { role, turn, special, text }: TextToken): Kind {
  if (role === Role.prompt) return 'prompt';
  if (role === Role.observation) return 'observation';
  const going = last?.turn === turn ? CLOSES[last.kind] : undefined;
  if (!last || going === undefined) return 'answer';
  if (special) return last.kind; // the end of a turn is none of its own
  if (text.trim() === '') return last.kind; // neither is the end of a line
  const tail = last.blocks
    .slice(-2)
    .flatMap(({ tokens }) => tokens.slice(-MOST_TAG_TOKENS))
    .map((token) => token.text)
    .join('');
  return tail.trimEnd().endsWith(going) ? 'answer' : last.kind;
}

/** A tag that begins a line opens a thought or a call: what stands from there on is of that kind. */
function openTag<T extends TextToken>(passages: Passage<T>[]): void {
  const last = passages.at(-1);
  const block = last?.blocks.at(-1);
  if (last?.kind !== 'answer' || !block || block.tokens.length > MOST_TAG_TOKENS) return;
  const tag = block.tokens.map(({ text }) => text).join('');
  const kind = OPENS[tag.trim()];
  if (!kind) return;
  passages.pop();
  const count = block.from - last.from;
  if (count > 0) passages.push({ ...last, count, blocks: last.blocks.slice(0, -1) });
  passages.push({ kind, turn: last.turn, from: block.from, count: block.tokens.length, blocks: [block] });
}

const OPENS: Readonly<Record<string, Kind>> = { '<think>': 'think', '<tool_call>': 'call' };
const CLOSES: Readonly<Partial<Record<Kind, string>>> = { think: '</think>', call: '</tool_call>' };
/** A tag may be spelt in pieces. */
const MOST_TAG_TOKENS = 12;
