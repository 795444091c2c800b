import { backendText, type Run } from '../../runs/run.ts';
import { hashOf } from '../address/hash.ts';
import { Icon } from '../parts/Icon.tsx';
import { percent } from '../parts/numberText.ts';
import { Swatch } from './Swatch.tsx';
import { fullName, lastOf, MOST_NAMED } from './keptRun.ts';
import { RunFiles } from './RunFiles.tsx';
import { deleteRun, MOST_SHOWN, toggleShown, useRuns } from './runStore.ts';
import { SameKernels } from './SameKernels.tsx';

/** A run in a list: whether it is drawn, what it is, and what can be done with it. */
export function RunRow({ run }: { readonly run: Run }) {
  const slots = useRuns((s) => s.slots);
  const pinned = useRuns((s) => s.baseline);
  const slot = slots.indexOf(run.id);
  const full = slot < 0 && !slots.includes(null);
  return (
    <article className="run-row" aria-label={`Run ${run.id}`} data-shown={slot >= 0}>
      <label className="line run-show" title={full ? `At most ${MOST_SHOWN} runs can be drawn at once` : undefined}>
        <input type="checkbox" checked={slot >= 0} disabled={full} onChange={() => toggleShown(run.id)} />
        <span className="visually-hidden">Draw run {run.id}</span>
        {slot >= 0 ? <Swatch slot={slot} /> : <span className="run-swatch" />}
        <b>#{run.id}</b>
      </label>
      <div className="run-what">
        <p className="strong run-name">{fullName(run)}</p>
        <p className="small faint">
          {run.update} {run.update === 1 ? 'update' : 'updates'} · training success{' '}
          {percent(lastOf(run, 'rollout/success'))} · {backendText(run.backend)} ·{' '}
          <time dateTime={run.started}>{new Date(run.started).toLocaleString()}</time>
        </p>
        {run.changes.length > MOST_NAMED && (
          <p className="small faint">
            on the way: {run.changes.map(({ update, text }) => `${update}: ${text}`).join(' · ')}
          </p>
        )}
        <SameKernels run={run} />
      </div>
      <div className="line run-actions">
        <button
          type="button"
          className="quiet small"
          aria-pressed={pinned === run.id}
          onClick={() => useRuns.setState({ baseline: pinned === run.id ? null : run.id })}
        >
          {pinned === run.id ? '★ baseline' : '☆ baseline'}
        </button>
        <a className="small" href={hashOf(run.begun)} title="Open the lab with these knobs">
          knobs
        </a>
        <RunFiles run={run} />
        <button
          type="button"
          className="quiet icon-button small"
          aria-label={`Delete run ${run.id}`}
          onClick={() => deleteRun(run.id)}
        >
          <Icon name="cross" />
        </button>
      </div>
    </article>
  );
}
