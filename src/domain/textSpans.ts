import { TAG_NAMES } from './tagKinds.ts';
import { type Kind, Role } from './tokens.ts';

/** A token of a chat or of a rollout in text. */
export interface TextToken {
  readonly text: string; // the characters that it adds to the text
  readonly role: Role;
  readonly turn: number; // the agent's turn, from 1; 0 in the prompt
  readonly special: boolean; // true: a token of the chat template, such as the end of a turn
}

/** The tokens of one line of text, so that blocks drawn below each other read like the text. */
export interface Block<T extends TextToken = TextToken> {
  readonly from: number; // index of its first token
  readonly tokens: readonly T[];
}

/** Consecutive tokens of one kind. */
export interface Passage<T extends TextToken = TextToken> {
  readonly kind: Kind;
  readonly turn: number;
  readonly from: number; // index of its first token
  readonly count: number; // number of tokens
  readonly blocks: readonly Block<T>[];
}

/** Passages with tokens appended. Passages that get no token stay the same objects, so that they aren't drawn again. */
export function withTokens<T extends TextToken>(
  before: readonly Passage<T>[],
  tokens: readonly T[],
): readonly Passage<T>[] {
  const passages = [...before];
  for (const token of tokens) {
    const last = passages.at(-1);
    const from = last ? last.from + last.count : 0;
    const kind = kindOf(last, token);
    if (last?.kind === kind && last.turn === token.turn) passages[passages.length - 1] = withToken(last, token);
    else passages.push({ kind, turn: token.turn, from, count: 1, blocks: [{ from, tokens: [token] }] });
    openTag(passages);
  }
  return passages;
}

function withToken<T extends TextToken>(passage: Passage<T>, token: T): Passage<T> {
  const last = passage.blocks.at(-1);
  const beginsLine = last?.tokens.at(-1)?.text.endsWith('\n') ?? true;
  const blocks =
    beginsLine || !last
      ? [...passage.blocks, { from: passage.from + passage.count, tokens: [token] }]
      : [...passage.blocks.slice(0, -1), { from: last.from, tokens: [...last.tokens, token] }];
  return { ...passage, count: passage.count + 1, blocks };
}

/** Within the agent's words, a thought or a call ends with its closing tag and the white space after it. */
function kindOf(last: Passage | undefined, { role, turn, special, text }: TextToken): Kind {
  if (role === Role.prompt) return 'prompt';
  if (role === Role.observation) return 'observation';
  const tagged = PASSAGES_WITH_TAGS.find((kind) => last?.turn === turn && last.kind === kind);
  if (!last || !tagged) return 'answer';
  if (special) return last.kind; // the end of a turn has no kind of its own
  if (text.trim() === '') return last.kind; // nor has the end of a line
  const tail = last.blocks
    .slice(-2)
    .flatMap(({ tokens }) => tokens.slice(-MAX_TAG_TOKENS))
    .map((token) => token.text)
    .join('');
  return tail.trimEnd().endsWith(`</${TAG_NAMES[tagged][0]}>`) ? 'answer' : last.kind;
}

/** Starts a new passage if the last line so far is an opening tag: from that tag on, the text is a thought or a call. */
function openTag<T extends TextToken>(passages: Passage<T>[]): void {
  const last = passages.at(-1);
  const block = last?.blocks.at(-1);
  if (last?.kind !== 'answer' || !block || block.tokens.length > MAX_TAG_TOKENS) return;
  const tag = block.tokens.map(({ text }) => text).join('');
  const kind = PASSAGES_WITH_TAGS.find((each) => tag.trim() === `<${TAG_NAMES[each][0]}>`);
  if (!kind) return;
  passages.pop();
  const count = block.from - last.from;
  if (count > 0) passages.push({ ...last, count, blocks: last.blocks.slice(0, -1) });
  passages.push({ kind, turn: last.turn, from: block.from, count: block.tokens.length, blocks: [block] });
}

/** Kinds of the agent's text that tags enclose in a chat; the rest of its text is an answer. */
const PASSAGES_WITH_TAGS = ['think', 'call'] as const;
/** Largest number of tokens that spell a tag. */
const MAX_TAG_TOKENS = 12;
