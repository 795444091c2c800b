import { useLive } from '../run/liveStore.ts';
import { MendFault } from './MendFault.tsx';

/** In the editor: a run that this file’s fault has paused, and the press that goes on with it once it is mended. Nothing where there is none. */
export function PausedAtFault() {
  const problem = useLive((s) => s.problem);
  if (problem?.cause !== 'environment-fault') return null;
  return (
    <div className="note bad stack" role="status" data-testid="paused-at-fault">
      <p>
        {problem.message} {problem.hint}
      </p>
      <div className="row">
        <MendFault inEditor />
      </div>
    </div>
  );
}
