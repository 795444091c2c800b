import { useState } from 'react';
import { useLive } from '../run/liveStore.ts';
import { type RolloutFile, ROLLOUT_FILES, saveRollouts } from './saveRollouts.ts';

/** Saves rollouts of the run in the lab: the batch in view or all that are kept, in either format. */
export function SaveRollouts() {
  const [as, setAs] = useState<RolloutFile>('own');
  const [which, setWhich] = useState<'view' | 'all'>('all');
  const [said, setSaid] = useState('');
  const updates = useLive((s) => s.update);
  return (
    <>
      <select
        aria-label="Which rollouts"
        value={which}
        onChange={(event) => setWhich(event.target.value === 'all' ? 'all' : 'view')}
      >
        <option value="all">{updates > 0 ? 'all kept batches' : 'the recording'}</option>
        {updates > 0 && <option value="view">the batch in view</option>}
      </select>
      <select
        aria-label="Format"
        value={as}
        onChange={(event) => setAs(event.target.value === 'own' ? 'own' : 'traces')}
      >
        {Object.entries(ROLLOUT_FILES).map(([name, { label, hint }]) => (
          <option key={name} value={name}>
            {label}: {hint}
          </option>
        ))}
      </select>
      <button
        type="button"
        onClick={() =>
          void saveRollouts(which, as).then(setSaid, (error: unknown) => setSaid(`Not saved: ${String(error)}`))
        }
      >
        Save
      </button>
      <span className="faint" role="status">
        {said}
      </span>
    </>
  );
}
