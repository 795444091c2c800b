import type { RunConfig } from '../config/config.ts';

/** The state of a run. `trap`: its rollouts have become alike and success suffers or no longer rises; see `TrapKind`. */
export type HealthState = 'ok' | 'watch' | 'trap';
/**
 * The kind of trap. `collapse` is RAGEN's Echo Trap: success rose and fell again while rollouts became alike. `blind`:
 * rollouts became alike and no longer depend on what the agent reads, before success has risen half the way from its
 * first value to 1. Success has not fallen.
 */
export type TrapKind = 'collapse' | 'blind';
/** A sign of trouble, with the measured numbers in a sentence. */
export interface Evidence {
  readonly sign: 'spread' | 'entropy' | 'gradient' | 'echo' | 'flat' | 'input' | 'success' | 'reward' | 'length';
  readonly text: string;
  readonly alarming: boolean; // false: worth watching only
}
/** A change of knobs that may help and can be made while the run goes on. */
export interface Remedy {
  readonly label: string;
  readonly changes: Partial<RunConfig>;
}
export interface Health {
  readonly state: HealthState;
  readonly since: number; // update at which this state was entered
  readonly kind: TrapKind | null; // the trap that the run is in or close to; null if there is none
  readonly evidence: readonly Evidence[];
  readonly remedies: readonly Remedy[];
}
