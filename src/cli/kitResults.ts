import type { Outcome } from '../domain/adapterReport.ts';

/** What the first part finds out about the adapter; later parts depend on it. */
export interface AdapterFacts {
  readonly adapter: string;
  readonly software: boolean;
  readonly halves: boolean; // it computes in f16
}

/** The result of one part of the kit. */
export interface PartResult {
  readonly outcome: Outcome;
  readonly why: string;
  readonly numbers: unknown;
  readonly facts?: AdapterFacts;
}
