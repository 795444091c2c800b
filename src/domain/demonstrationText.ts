import type { Kind, Role } from './tokens.ts';

/** A span of an episode, as text. */
export interface SpokenText {
  readonly kind: Kind;
  readonly role: Role;
  readonly turn: number; // 0: the prompt
  readonly text: string;
}

/** Demonstrations that a step of imitation learns from. */
export interface DemonstratedStep {
  readonly step: number; // from 1
  readonly total: number;
  readonly episodes: readonly (readonly SpokenText[])[];
}
