import { counted } from '../../page/words/numberText.ts';
import { useLive, type Session } from '../../page/view/liveStore.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { presetLabel } from '../../page/knobs/presetTitle.ts';
import { useReplay } from '../../page/view/player.ts';
import { Demonstrations } from '../tokens/Demonstrations.tsx';

export function NoRollouts() {
  const session = useLive((s) => s.session);
  const busy = useLive((s) => s.running || s.stepping);
  const update = useLive((s) => s.update);
  const ownEnvironment = useLive((s) => s.ownEnvironment);
  const label = useConfig((s) => presetLabel(s.preset, ownEnvironment));
  const knobsDiffer = useReplay((s) => s.knobsDiffer);
  const loadFailed = useReplay((s) => s.loadFailed);
  const isImitating = useLive((s) => s.session === 'ready' && s.phase === 'imitating');
  if (isImitating) return <Demonstrations />;
  return (
    <p className="no-rollouts" role="status" data-testid="no-rollouts">
      {noRolloutsWords({ session, busy, update, knobsDiffer, loadFailed, label })}
    </p>
  );
}

interface NoRolloutsState {
  readonly session: Session;
  readonly busy: boolean; // training runs, or a step is under way
  readonly update: number; // updates that the run has done
  readonly knobsDiffer: boolean; // the knobs set another environment or model than the recorded run used
  readonly loadFailed: boolean; // the recording could not be loaded
  readonly label: string; // name of the preset or of the person's own environment
}

export function noRolloutsWords({ session, busy, update, knobsDiffer, loadFailed, label }: NoRolloutsState): string {
  if (session === 'starting') return `${label}: preparing the run. Its first rollouts follow.`;
  if (session === 'ready' && update > 0)
    return `Weights and curves are back (${counted(update, 'update')}). Rollouts aren’t saved: they reappear after the next update.`;
  if (session === 'ready' && busy) return 'Drawing the first rollouts of this run …';
  if (session === 'ready') return 'This run has no rollouts yet. Run training, or step one update.';
  if (session === 'failed') return 'The run ended before its first rollouts.';
  if (knobsDiffer) return `The recording shows another environment or model. Run training to see rollouts of ${label}.`;
  return loadFailed ? `Run training to see rollouts of ${label}.` : 'Loading the recorded run …';
}
