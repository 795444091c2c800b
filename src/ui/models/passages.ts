import { Role } from '../../domain/tokens.ts';
import type { SpokenToken } from '../../wire/speakerMessages.ts';
import type { Kind } from '../rollout/kinds.ts';

/** A stretch of text that ends with a line, so that blocks one below the other read as the text itself. */
export interface Block {
  readonly from: number; // its first token
  readonly tokens: readonly SpokenToken[];
}

/** Consecutive tokens of one writer. */
export interface Passage {
  readonly kind: Kind;
  readonly turn: number;
  readonly from: number;
  readonly count: number; // of tokens
  readonly blocks: readonly Block[];
}

/** Passages with tokens added; those that nothing was added to stay the same objects, so that they are not drawn again. */
export function extended(before: readonly Passage[], tokens: readonly SpokenToken[]): readonly Passage[] {
  const passages = [...before];
  for (const token of tokens) {
    const last = passages.at(-1);
    const from = last ? last.from + last.count : 0;
    const kind = kindOf(last, token);
    if (last?.kind === kind && last.turn === token.turn) passages[passages.length - 1] = longer(last, token);
    else passages.push({ kind, turn: token.turn, from, count: 1, blocks: [{ from, tokens: [token] }] });
    opened(passages);
  }
  return passages;
}

/** Passages without the tokens from `count` on. */
export function cutAt(passages: readonly Passage[], count: number): readonly Passage[] {
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
export function tokenAt(passages: readonly Passage[], at: number): SpokenToken | undefined {
  const passage = passages.find(({ from, count }) => at >= from && at < from + count);
  const block = passage?.blocks.findLast(({ from }) => from <= at);
  return block?.tokens[at - block.from];
}

function longer(passage: Passage, token: SpokenToken): Passage {
  const last = passage.blocks.at(-1);
  const anew = last?.tokens.at(-1)?.text.endsWith('\n') ?? true;
  const blocks =
    anew || !last
      ? [...passage.blocks, { from: passage.from + passage.count, tokens: [token] }]
      : [...passage.blocks.slice(0, -1), { from: last.from, tokens: [...last.tokens, token] }];
  return { ...passage, count: passage.count + 1, blocks };
}

/** Who speaks; of the model's own words a thought or a call is found when its tag is whole. */
function kindOf(last: Passage | undefined, { role, turn, special }: SpokenToken): Kind {
  if (role === Role.prompt) return 'prompt';
  if (role === Role.observation) return 'observation';
  const going = last?.turn === turn ? CLOSES[last.kind] : undefined;
  if (!last || going === undefined) return 'answer';
  if (special) return last.kind; // the end of a turn is none of its own
  const said = last.blocks
    .slice(-2)
    .flatMap(({ tokens }) => tokens.slice(-MOST_TAG_TOKENS))
    .map(({ text }) => text)
    .join('');
  return said.trimEnd().endsWith(going) ? 'answer' : last.kind;
}

/** A tag that begins a line opens a thought or a call: what stands from there on is of that kind. */
function opened(passages: Passage[]): void {
  const last = passages.at(-1);
  const block = last?.blocks.at(-1);
  if (last?.kind !== 'answer' || !block || block.tokens.length > MOST_TAG_TOKENS) return;
  const kind =
    OPENS[
      block.tokens
        .map(({ text }) => text)
        .join('')
        .trim()
    ];
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
