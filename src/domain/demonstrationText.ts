import type { Role } from './tokens.ts';

/** A stretch of an episode that one author wrote, as text. */
export interface SpokenText {
  readonly role: Role;
  readonly turn: number; // 0: the prompt
  readonly text: string;
}

/** The demonstrations that a step of imitation learns from. */
export interface DemonstratedStep {
  readonly step: number; // from 1
  readonly total: number;
  readonly episodes: readonly (readonly SpokenText[])[];
}
