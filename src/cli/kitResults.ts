import type { Outcome } from '../domain/adapterReport.ts';

/** What the parts depend on. */
export interface AdapterFacts {
  readonly adapter: string;
  readonly software: boolean;
  readonly halves: boolean; // it computes in f16
}

/** How a part ended. */
export interface Found {
  readonly outcome: Outcome;
  readonly why: string;
  readonly numbers: unknown;
  readonly facts?: AdapterFacts;
}
