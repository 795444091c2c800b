import type { Outcome } from '../../src/domain/adapterReport.ts';

/** The facts about the adapter that the first part finds; later parts depend on them. */
export interface AdapterFacts {
  readonly adapter: string;
  readonly software: boolean;
  readonly computesFloat16: boolean; // whether it has shader-f16, to compute in float16
}

/** The result of one part of the kit. */
export interface PartResult {
  readonly outcome: Outcome;
  readonly why: string;
  readonly numbers: unknown;
  readonly facts?: AdapterFacts;
}
