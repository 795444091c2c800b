import { visible } from '../../base/visible.ts';
import { table, useRollouts } from '../../page/files/rolloutFileStore.ts';
import { togglePause, useWatch } from '../../page/files/watchedFolder.ts';
import { duration, wholeNumber } from '../../page/words/numberText.ts';

/** The folder that is watched, how far its job is, and when it last wrote. */
export function WatchLine() {
  const { folder, paused, problem, refused, age, logs } = useWatch();
  const version = useRollouts((s) => s.version);
  if (folder === null) return null;
  const step = version > 0 ? table.columns.step[table.rows - 1] : undefined;
  return (
    <section className="panel stack watch-line" aria-label="Watched folder">
      <div className="row">
        <span className="soft" data-testid="watching">
          {paused ? 'paused:' : 'watching'} <b>{visible(folder, 60)}</b>
          {step !== undefined && !Number.isNaN(step) && ` · step ${wholeNumber(step)}`}
          {version === 0 ? ' · no rollouts yet' : age !== null && ` · ${duration(age)} ago`}
        </span>
        {logs > 0 && <a href="#/runs">{logs === 1 ? 'Its log, as curves' : `Its ${logs} logs, as curves`}</a>}
        <button type="button" className="small end" onClick={togglePause}>
          {paused ? 'Go on' : 'Pause'}
        </button>
      </div>
      {[...(problem ? [problem] : []), ...refused.slice(0, 3)].map((text) => (
        <p key={text} className="small soft">
          {visible(text, 200)}
        </p>
      ))}
    </section>
  );
}
