import { useMemo } from 'react';
import { EXPERIMENTS } from '../../experiments/catalogue.ts';
import type { Experiment } from '../../experiments/experiment.ts';
import { duration } from '../format.ts';
import { Icon } from '../panels/Icon.tsx';
import { secondsPerUpdate } from './cost.ts';
import { cancel, pause, resume, start } from './runner.ts';
import { lacking, useExperiments } from './store.ts';

/** Start, pause, cancel, and what it costs. */
export function QueueButtons() {
  const mode = useExperiments((s) => s.mode);
  const plan = useExperiments((s) => s.plan);
  const waiting = useExperiments((s) => s.waiting);
  const results = useExperiments((s) => s.results);
  const more = useMemo(() => lacking(plan, waiting, results).length, [plan, waiting, results]);
  const elsewhere = waiting.filter((run) => run.experiment !== plan.experiment).length;
  const busy = mode !== 'idle';
  return (
    <div className="queue">
      <div className="queue-buttons" role="group" aria-label="Queue">
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
        <Cost more={more} />
      </div>
      {mode === 'elsewhere' && (
        <p className="notice">Another tab of this page works on the queue. This one takes over when it is done.</p>
      )}
      {elsewhere > 0 && <p className="faint">Also waiting: {elsewhere} runs of other experiments.</p>}
      {busy && (
        <p className="faint">
          The queue and finished runs survive a reload; the run under way then starts again from its beginning.
        </p>
      )}
    </div>
  );
}

function Cost({ more }: { readonly more: number }) {
  const plan = useExperiments((s) => s.plan);
  const results = useExperiments((s) => s.results);
  const { shared }: Experiment = EXPERIMENTS[plan.experiment];
  const { seconds, measured } = secondsPerUpdate(plan, results);
  if (more === 0) return null;
  const updates = plan.updates ?? shared.updates ?? 0;
  return (
    <span className="cost">
      {more} {more === 1 ? 'run' : 'runs'} × {updates} updates, about {duration(more * updates * seconds)}{' '}
      <span className="faint">{measured ? 'as measured here' : 'on one CPU core; measured once a run is done'}</span>
    </span>
  );
}
