import { PRESETS, type PresetName } from '../../config/presets.ts';
import type { Session } from '../run/liveStore.ts';

interface Empty {
  readonly session: Session;
  readonly busy: boolean; // training, or at a step
  readonly away: boolean; // there is a recorded run, of another environment than the one chosen
  readonly missing: boolean; // it could not be loaded
  readonly preset: PresetName;
}

/** Why no rollout is in view, and what brings one. */
export function noRolloutsWords({ session, busy, away, missing, preset }: Empty): string {
  const { label } = PRESETS[preset];
  if (session === 'starting') return `${label}: the run is being prepared; its first rollouts follow.`;
  if (session === 'ready' && busy) return 'The first rollouts of this run are on their way.';
  if (session === 'ready') return 'This run has no rollouts yet. Run training, or step one update.';
  if (session === 'failed') return 'The run ended before its first rollouts.';
  if (away) return `The recorded run is of another environment. Run training to see rollouts of ${label}.`;
  return missing ? `Run training to see rollouts of ${label}.` : 'The recorded run is being loaded.';
}
