import { kindOfTag } from './tagKinds.ts';
import { withTokens, type TextToken } from './textSpans.ts';
import { type Kind, Role, type SpanKind, type Writing } from './tokens.ts';

/** Consecutive tokens of one kind. */
export interface Span<K extends SpanKind = SpanKind> {
  readonly kind: K;
  readonly tokens: readonly number[]; // positions in the row
}

/** One turn: the agent's tokens and the observation that follows. Turn 0 is the prompt. */
export interface Turn<K extends SpanKind = SpanKind> {
  readonly turn: number;
  readonly spans: readonly Span<K>[];
}

/** The role and the turn of each token of a row. */
export interface TokenAuthors {
  readonly roles: ArrayLike<number>;
  readonly turns: ArrayLike<number>;
}

/** Null for padding. `words` are entries of the vocabulary; in a byte vocabulary they contain their own spaces. */
export function kindsOf(words: readonly string[], writing: Writing, by: TokenAuthors): readonly (Kind | null)[] {
  return writing === 'words' ? kindsOfWords(words, by.roles) : kindsOfText(words, by);
}

/** The kind of each word, from roles and tags; null for padding. Untagged agent words count as a call. */
function kindsOfWords(words: readonly string[], roles: ArrayLike<number>): readonly (Kind | null)[] {
  let span: Kind = 'call';
  return words.map((word, t) => {
    const role = roles[t];
    if (role === Role.prompt) return 'prompt';
    if (role === Role.observation) {
      span = 'call';
      return 'observation';
    }
    if (role !== Role.action) return null;
    const tag = /^<(\/?)(\w+)>$/.exec(word);
    if (!tag) return span;
    const named = kindOfTag(tag[2] ?? '');
    const kind = named === 'think' || named === 'answer' ? named : 'call';
    span = tag[1] === '/' ? 'call' : kind;
    return kind;
  });
}

/** Found in the same way as for a chat, because a tag may be split into several pieces. */
function kindsOfText(pieces: readonly string[], { roles, turns }: TokenAuthors): readonly (Kind | null)[] {
  const written = pieces.flatMap((piece, t): (TextToken & { readonly t: number })[] => {
    const role = Object.values(Role).find((each) => each === roles[t]) ?? Role.pad;
    if (role === Role.pad) return [];
    const special = TEMPLATE.test(piece);
    return [{ t, role, special, text: piece.replaceAll('⏎', '\n'), turn: turns[t] ?? 0 }];
  });
  const kinds: (Kind | null)[] = pieces.map(() => null);
  for (const { kind, blocks } of withTokens([], written)) {
    for (const { tokens } of blocks) for (const { t } of tokens) kinds[t] = kind;
  }
  return kinds;
}

/** Matches a token of a chat template that ends a turn or a text. */
const TEMPLATE = /^(?:<\|.*\|>|<\/s>)$/;

/** Groups the tokens of a row into turns, and each turn into spans. Tokens without a kind are left out. */
export function turnsOf<K extends SpanKind>(
  kinds: readonly (K | null)[],
  turnOf: ArrayLike<number>,
): readonly Turn<K>[] {
  const turns: { turn: number; spans: { kind: K; tokens: number[] }[] }[] = [];
  kinds.forEach((kind, t) => {
    if (kind === null) return;
    const number = turnOf[t] ?? 0;
    let turn = turns.at(-1);
    if (turn?.turn !== number) turns.push((turn = { turn: number, spans: [] }));
    const span = turn.spans.at(-1);
    if (span?.kind === kind) span.tokens.push(t);
    else turn.spans.push({ kind, tokens: [t] });
  });
  return turns;
}
