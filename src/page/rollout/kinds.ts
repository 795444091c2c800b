import type { StopReason } from '../../domain/episode.ts';
import type { Kind, SpanKind } from '../../domain/tokens.ts';

interface KindStyle {
  readonly label: string;
  readonly letter: string;
  readonly note: string;
}

/** Labels that tell the kinds of tokens apart without colour. The colours are `--role-…` in styles/theme.css. */
export const KINDS: Readonly<Record<Kind, KindStyle>> = {
  prompt: { label: 'prompt', letter: 'P', note: 'The task, as the environment states it.' },
  think: { label: 'think', letter: 'T', note: 'The agent’s own words to itself.' },
  call: { label: 'call', letter: 'C', note: 'The agent calls its tool.' },
  observation: { label: 'observation', letter: 'O', note: 'The environment wrote this.' },
  answer: { label: 'answer', letter: 'A', note: 'The agent’s answer.' },
};

/** Labels for rollouts from files and chats, whose chat templates have more kinds. */
export const SPAN_KINDS: Readonly<Record<SpanKind, { readonly label: string; readonly letter: string }>> = {
  ...KINDS,
  system: { label: 'system', letter: 'S' },
  action: { label: 'agent', letter: 'W' },
};

export const STOP_TEXTS: Readonly<Record<StopReason, string>> = {
  answered: 'answered',
  found: 'done',
  lost: 'lost',
  turns: 'no turns left',
  tokens: 'out of tokens',
};
