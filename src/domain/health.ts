import type { RunConfig } from '../config/config.ts';

/** How a run fares: TRAP is a run whose attempts have grown alike with nothing to show for it; see `TrapKind`. */
export type HealthState = 'ok' | 'watch' | 'trap';
/**
 * Which trap it is. collapse: success rose and fell again while attempts grew alike, the Echo Trap as RAGEN means it. blind: attempts grew alike
 * and no longer depend on what is read, before half of what there was to win was won; success has not fallen.
 */
export type TrapKind = 'collapse' | 'blind';
/** A sign of trouble: what was measured, in words and numbers. */
export interface Evidence {
  readonly sign: 'spread' | 'entropy' | 'gradient' | 'echo' | 'flat' | 'input' | 'success';
  readonly text: string;
  readonly alarming: boolean; // false: worth watching only
}
/** What may help, as a change of knobs that can be made while the run goes on. */
export interface Remedy {
  readonly label: string;
  readonly changes: Partial<RunConfig>;
}
/** What the monitor says after an update. */
export interface Health {
  readonly state: HealthState;
  readonly since: number; // update at which this state was entered
  readonly kind: TrapKind | null; // of the trap, or of the one it looks like; null where nothing looks like one
  readonly evidence: readonly Evidence[];
  readonly remedies: readonly Remedy[];
}
