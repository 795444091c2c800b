import { useMemo } from 'react';
import { duration } from '../parts/numberText.ts';
import { Icon } from '../parts/Icon.tsx';
import { costOf } from './experimentCost.ts';
import type { RunRequest } from './requests.ts';
import { cancel, pause, resume, start } from './experimentRunner.ts';
import { lacking, useExperiments } from './experimentStore.ts';

/** Start, pause, cancel, and what it costs. */
export function QueueButtons() {
  const mode = useExperiments((s) => s.mode);
  const plan = useExperiments((s) => s.plan);
  const waiting = useExperiments((s) => s.waiting);
  const results = useExperiments((s) => s.results);
  const missing = useMemo(() => lacking(plan, waiting, results), [plan, waiting, results]);
  const more = missing.length;
  const elsewhere = waiting.filter((run) => run.experiment !== plan.experiment).length;
  const busy = mode !== 'idle';
  return (
    <div className="stack">
      <div className="row" role="group" aria-label="Queue">
        {(more > 0 || !busy) && (
          <button type="button" className="primary" disabled={more === 0} onClick={start}>
            <Icon name="play" />
            {busy ? 'Add to the queue' : 'Start'}
          </button>
        )}
        {(mode === 'running' || mode === 'elsewhere') && (
          <button type="button" disabled={mode === 'elsewhere'} onClick={pause}>
            <Icon name="pause" />
            Pause
          </button>
        )}
        {mode === 'paused' && (
          <button type="button" className="primary" onClick={resume}>
            <Icon name="play" />
            Resume
          </button>
        )}
        {busy && (
          <button type="button" onClick={cancel}>
            <Icon name="cross" />
            Cancel
          </button>
        )}
        <Cost of={missing} />
      </div>
      {mode === 'elsewhere' && (
        <p className="note">
          Another tab of this page is running the queue. This tab takes over when the other is done.
        </p>
      )}
      {elsewhere > 0 && <p className="faint">Also waiting: {elsewhere} runs of other experiments.</p>}
      {busy && <p className="faint">The queue and finished runs survive a reload. The current run then starts over.</p>}
    </div>
  );
}

function Cost({ of }: { readonly of: readonly RunRequest[] }) {
  const results = useExperiments((s) => s.results);
  const shipped = useExperiments((s) => s.shipped[s.plan.experiment]);
  const { seconds, updates, measured } = useMemo(() => costOf(of, results, shipped ?? []), [of, results, shipped]);
  if (of.length === 0) return null;
  return (
    <span className="cost">
      {of.length} {of.length === 1 ? 'run' : 'runs'}, {updates} updates in all, about {duration(seconds)}{' '}
      <span className="faint">
        {measured ? 'measured here' : 'on one CPU core (an estimate until the first run here)'}
      </span>
    </span>
  );
}
