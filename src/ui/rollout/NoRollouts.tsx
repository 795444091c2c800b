import { useConfig } from '../knobs/configStore.ts';
import { useLive } from '../run/liveStore.ts';
import { Demonstrations } from './Demonstrations.tsx';
import { noRolloutsWords } from './noRollouts.ts';
import { useReplay } from '../replay/player.ts';

/** In place of rollouts if there are none: why, and what brings some. */
export function NoRollouts() {
  const session = useLive((s) => s.session);
  const busy = useLive((s) => s.running || s.stepping);
  const update = useLive((s) => s.update);
  const preset = useConfig((s) => s.preset);
  const away = useReplay((s) => s.away);
  const missing = useReplay((s) => s.missing);
  const imitating = useLive((s) => s.phase === 'imitating');
  const total = useLive((s) => s.phaseTotal);
  const losses = useLive((s) => s.losses);
  return (
    <>
      <p className="no-rollouts" role="status" data-testid="no-rollouts">
        {noRolloutsWords({
          session,
          busy,
          update,
          away,
          missing,
          preset,
          imitating: imitating ? { total, losses } : null,
        })}
      </p>
      {session === 'ready' && imitating && <Demonstrations />}
    </>
  );
}
