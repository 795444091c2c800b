import type { StopReason } from '../../domain/episode.ts';
import { Role } from '../../domain/tokens.ts';

/** What a reader sees a token as: its role, and inside the agent's own words the span its tags open. */
export type Kind = 'prompt' | 'think' | 'call' | 'observation' | 'answer';

interface KindStyle {
  readonly label: string;
  readonly letter: string;
  readonly note: string;
  readonly underline: 'none' | 'wavy' | 'double' | 'dotted' | 'solid';
}

/** How each kind is told apart without colour. The colours are `--role-…` in styles/theme.css. */
export const KINDS: Readonly<Record<Kind, KindStyle>> = {
  prompt: { label: 'prompt', letter: 'P', note: 'The task, as the environment states it.', underline: 'none' },
  think: { label: 'think', letter: 'T', note: 'The agent’s own words to itself.', underline: 'wavy' },
  call: { label: 'call', letter: 'C', note: 'The agent calls its tool.', underline: 'double' },
  observation: { label: 'observation', letter: 'O', note: 'The environment wrote this.', underline: 'dotted' },
  answer: { label: 'answer', letter: 'A', note: 'The agent’s answer.', underline: 'solid' },
};

/** The kind of each token of a row, from roles and tags; null for padding. Untagged agent words count as a call. */
export function kindsOf(words: readonly string[], roles: Uint8Array): (Kind | null)[] {
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
    const kind = kindOfTag(tag[2] ?? '');
    span = tag[1] === '/' ? 'call' : kind;
    return kind;
  });
}

/** The kind of each token of a row of text, where tags come in pieces: a turn of the agent's is a call where one stands in it, else an answer. */
export function kindsOfText(
  pieces: readonly string[],
  { roles, turns }: { readonly roles: Uint8Array; readonly turns: Uint8Array },
): (Kind | null)[] {
  const said = new Map<number, string>();
  pieces.forEach((piece, t) => {
    if (roles[t] === Role.action) said.set(turns[t] ?? 0, (said.get(turns[t] ?? 0) ?? '') + piece);
  });
  return pieces.map((_, t) => {
    const role = roles[t];
    if (role === Role.prompt) return 'prompt';
    if (role === Role.observation) return 'observation';
    if (role !== Role.action) return null;
    return said.get(turns[t] ?? 0)?.includes('<tool_call>') ? 'call' : 'answer';
  });
}

/** True for the words of the vocabulary that are tags. */
export function isTag(word: string): boolean {
  return /^<.*>$/.test(word);
}

function kindOfTag(name: string): Kind {
  if (name.startsWith('think')) return 'think';
  return name.startsWith('ans') ? 'answer' : 'call';
}

/** How a rollout ended, in words. */
export const STOPS: Readonly<Record<StopReason, string>> = {
  answered: 'answered',
  found: 'found',
  lost: 'lost',
  turns: 'out of turns',
  tokens: 'out of tokens',
};
