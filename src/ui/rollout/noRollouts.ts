import { PRESETS, type PresetName } from '../../config/presets.ts';
import { short } from '../parts/format.ts';
import type { Session } from '../run/liveStore.ts';

interface Empty {
  readonly session: Session;
  readonly busy: boolean; // training, or at a step
  readonly update: number; // done by the run
  readonly away: boolean; // the knobs ask for another environment or model than the recorded run's
  readonly missing: boolean; // it could not be loaded
  readonly preset: PresetName;
  readonly imitating: { readonly total: number; readonly losses: readonly number[] } | null; // steps, and of those heard −mean log π of what was shown
}

/** Why no rollout is in view, and what brings one. */
export function noRolloutsWords({ session, busy, update, away, missing, preset, imitating }: Empty): string {
  const { label } = PRESETS[preset];
  if (session === 'ready' && imitating) {
    const [first, last] = [imitating.losses[0], imitating.losses.at(-1)];
    const shown =
      'First it is shown how another plays, who errs now and then on purpose, and learns to write what is written there';
    const fell =
      first === undefined || last === undefined || imitating.losses.length === 1
        ? ''
        : ` −log p of their tokens: ${short(first)} at first, ${short(last)} in the last step.`;
    return `${shown}. Rollouts of its own follow after step ${imitating.total}.${fell}`;
  }
  if (session === 'starting') return `${label}: the run is being prepared; its first rollouts follow.`;
  if (session === 'ready' && update > 0)
    return `Rollouts are not saved with a run: ${update === 1 ? 'that of its first update is gone' : `those of its ${update} updates are gone`}, the next one’s come. Nothing else is lost.`;
  if (session === 'ready' && busy) return 'The first rollouts of this run are on their way.';
  if (session === 'ready') return 'This run has no rollouts yet. Run training, or step one update.';
  if (session === 'failed') return 'The run ended before its first rollouts.';
  if (away) return `The recorded run is of another environment or model. Run training to see rollouts of ${label}.`;
  return missing ? `Run training to see rollouts of ${label}.` : 'The recorded run is being loaded.';
}
