import type { Role } from './tokens.ts';

/** What one writes of an episode in one go, as text. */
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
