import { useLive } from '../run/liveStore.ts';
import { FixEnvironment } from './FixEnvironment.tsx';

/** In the editor: says that a run is paused at a fault of its environment, with a button to continue it. Renders nothing if no run is. */
export function PausedAtFault() {
  const problem = useLive((s) => s.problem);
  if (problem?.cause !== 'environment-fault') return null;
  return (
    <div className="note bad stack" role="status" data-testid="paused-at-fault">
      <p>
        {problem.message} {problem.hint}
      </p>
      <div className="row">
        <FixEnvironment inEditor />
      </div>
    </div>
  );
}
