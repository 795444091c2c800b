import { backendText, type Run } from '../../runs/run.ts';
import { hashOf } from '../../page/address/hash.ts';
import { Icon } from '../parts/Icon.tsx';
import { percent } from '../../page/words/numberText.ts';
import { Swatch } from '../parts/Swatch.tsx';
import { fullName, lastMetricValue, MAX_NAMED_KNOBS } from '../../page/runs/keptRun.ts';
import { deleteRun, MAX_DRAWN_RUNS, toggleShown, useRuns } from '../../page/runs/runStore.ts';
import { lazy, Suspense, useState } from 'react';
import { csvOfCurves } from '../../page/curves/curvesCsv.ts';
import { download, fileName } from '../../page/browser/fileDownload.ts';
import { columnsOf, logOf } from '../../page/files/wholeRun.ts';
import { type PackedRun, packedRun } from '../../runs/packed.ts';
import { ExportRun } from '../export/ExportRun.tsx';
import { currentRun } from '../../page/runs/liveRun.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { latestCheckpoint } from '../../page/runs/saving.ts';

export function RunRow({ run }: { readonly run: Run }) {
  const slots = useRuns((s) => s.slots);
  const baselineId = useRuns((s) => s.baseline);
  const slot = slots.indexOf(run.id);
  const isChartFull = slot < 0 && !slots.includes(null);
  return (
    <article className="run-row flex wrap gap-4" aria-label={`Run ${run.id}`} data-shown={slot >= 0}>
      <label
        className="line run-show"
        title={isChartFull ? `At most ${MAX_DRAWN_RUNS} runs can be drawn at once` : undefined}
      >
        <input type="checkbox" checked={slot >= 0} disabled={isChartFull} onChange={() => toggleShown(run.id)} />
        <span className="visually-hidden">Draw run {run.id}</span>
        {slot >= 0 ? <Swatch slot={slot} /> : <span className="run-swatch" />}
        <b>#{run.id}</b>
      </label>
      <div className="run-what thin breaks">
        <p className="strong run-name">{fullName(run)}</p>
        <p className="small faint">
          {run.update} {run.update === 1 ? 'update' : 'updates'} ·{' '}
          {run.program === undefined
            ? `training success ${percent(lastMetricValue(run, 'rollout/success'))} · ${backendText(run.backend)}`
            : `log of ${run.program}, knobs unknown`}{' '}
          · <time dateTime={run.started}>{new Date(run.started).toLocaleString()}</time>
        </p>
        {run.changes.length > MAX_NAMED_KNOBS && (
          <p className="small faint">
            on the way: {run.changes.map(({ update, text }) => `${update}: ${text}`).join(' · ')}
          </p>
        )}
      </div>
      <div className="line run-actions">
        <button
          type="button"
          className="quiet small"
          aria-pressed={baselineId === run.id}
          onClick={() => useRuns.setState({ baseline: baselineId === run.id ? null : run.id })}
        >
          {baselineId === run.id ? '★ baseline' : '☆ baseline'}
        </button>
        {run.program === undefined && (
          <a className="small" href={hashOf(run.begun)} title="Open the lab with these knobs">
            knobs
          </a>
        )}
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

const HandoverDialog = lazy(() => import('../export/HandoverDialog.tsx').then((m) => ({ default: m.HandoverDialog })));

function RunFiles({ run }: { readonly run: Run }) {
  const hasUpdates = useLive((s) => s.session === 'ready' && s.update > 0);
  const withWeights = hasUpdates && currentRun()?.id === run.id && latestCheckpoint() !== null;
  const [exportedRun, setExportedRun] = useState<PackedRun | null>(null);
  const name = (ending: string) => fileName(`run ${run.id}`, ending);
  return (
    <>
      <button
        type="button"
        className="quiet small"
        aria-label={`Run ${run.id} as CSV`}
        onClick={() => download(name('csv'), 'text/csv', csvOfCurves(columnsOf(run)))}
      >
        CSV
      </button>
      <button
        type="button"
        className="quiet small"
        aria-label={`Run ${run.id} as JSONL`}
        title="A log: one line of JSON for each update. “Open files…” reads it."
        onClick={() => download(name('jsonl'), 'application/x-ndjson', logOf(run))}
      >
        JSONL
      </button>
      {withWeights && (
        <ExportRun run={latestCheckpoint} label={`Run ${run.id} as a checkpoint`} small>
          Checkpoint
        </ExportRun>
      )}
      {currentRun()?.id === run.id && (
        <button
          type="button"
          className="quiet small"
          aria-label={`Rollouts of run ${run.id}`}
          onClick={() => void showRollouts()}
        >
          Rollouts
        </button>
      )}
      {withWeights && (
        <button
          type="button"
          className="quiet small"
          aria-label={`Export run ${run.id} for a cluster`}
          onClick={() => setExportedRun(packedLatest())}
        >
          Cluster …
        </button>
      )}
      <Suspense>{exportedRun && <HandoverDialog run={exportedRun} close={() => setExportedRun(null)} />}</Suspense>
    </>
  );
}

/** The run under way at its newest checkpoint; null if there is none. */
function packedLatest(): PackedRun | null {
  const latest = latestCheckpoint();
  return latest?.checkpoint ? packedRun({ ...latest, checkpoint: latest.checkpoint }) : null;
}

async function showRollouts(): Promise<void> {
  const { openRun } = await import('../../page/files/openRollouts.ts');
  await openRun();
  location.assign('#/rollouts');
}
