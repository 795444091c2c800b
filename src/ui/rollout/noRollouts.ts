import { counted } from '../parts/countText.ts';
import { short } from '../parts/numberText.ts';
import type { Session } from '../run/liveStore.ts';

interface Empty {
  readonly session: Session;
  readonly busy: boolean; // training, or at a step
  readonly update: number; // done by the run
  readonly away: boolean; // the knobs ask for another environment or model than the recorded run's
  readonly missing: boolean; // it could not be loaded
  readonly label: string; // of the preset or the person's own environment
  readonly imitating: { readonly total: number; readonly losses: readonly number[] } | null; // steps, and of those heard −mean log π of what was shown
}

/** Why no rollout is in view, and what brings one. */
export function noRolloutsWords({ session, busy, update, away, missing, label, imitating }: Empty): string {
  if (session === 'ready' && imitating) {
    const [first, last] = [imitating.losses[0], imitating.losses.at(-1)];
    const shown = 'Warm start: it imitates a player that makes deliberate mistakes';
    const fell =
      first === undefined || last === undefined || imitating.losses.length === 1
        ? ''
        : ` Imitation loss: ${short(first)} at first, ${short(last)} in the last step.`;
    return `${shown}. Its own rollouts follow after step ${imitating.total}.${fell}`;
  }
  if (session === 'starting') return `${label}: preparing the run. Its first rollouts follow.`;
  if (session === 'ready' && update > 0)
    return `Weights and curves are back (${counted(update, 'update')}). Rollouts aren’t saved: they reappear after the next update.`;
  if (session === 'ready' && busy) return 'Drawing the first rollouts of this run …';
  if (session === 'ready') return 'This run has no rollouts yet. Run training, or step one update.';
  if (session === 'failed') return 'The run ended before its first rollouts.';
  if (away) return `The recording shows another environment or model. Run training to see rollouts of ${label}.`;
  return missing ? `Run training to see rollouts of ${label}.` : 'Loading the recorded run …';
}
