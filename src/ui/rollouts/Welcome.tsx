import { useId, useRef } from 'react';
import { FORMATS } from '../../rollouts/rolloutFormats.ts';
import { openPicked, openRun, openSample } from './openRollouts.ts';
import { SaveRollouts } from './SaveRollouts.tsx';
import { useRollouts } from './rolloutFileStore.ts';

/** What the screen is for, and the ways to a file. */
export function Welcome() {
  const failed = useRollouts((s) => s.failed);
  return (
    <div className="rollouts-welcome">
      <section className="drop-here" aria-labelledby="drop-title">
        <h2 id="drop-title">Drop files of rollouts here</h2>
        <p className="soft">
          Formats: {FORMATS.map(({ label }) => label).join(' · ')}. Files are JSON Lines or Parquet, and the format is
          recognised from the content. Choose several files at once, or a whole folder.
        </p>
        <Pickers />
        <p className="soft">
          Nothing leaves this tab. Files are read here piece by piece, so even a file of a gigabyte opens.
        </p>
        {failed && (
          <p className="note bad" role="alert">
            {failed}
          </p>
        )}
      </section>
      <section className="panel stack" aria-labelledby="own-title">
        <h2 id="own-title">Rollouts of this page</h2>
        <p className="soft">From the run in the lab, or from the recording if there is no run.</p>
        <div className="row">
          <button type="button" onClick={() => void openRun()}>
            Open them here
          </button>
          <SaveRollouts />
        </div>
      </section>
    </div>
  );
}

/** The ways to a file but dropping it. */
function Pickers() {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const id = useId();
  return (
    <div className="row">
      <button type="button" className="primary" onClick={() => files.current?.click()}>
        Open files…
      </button>
      <button type="button" onClick={() => folder.current?.click()}>
        Open a folder…
      </button>
      <button type="button" onClick={() => void openSample()}>
        Look at a sample
      </button>
      <label className="visually-hidden" htmlFor={id}>
        Files of rollouts
      </label>
      <input
        {...{ id, ref: files, type: 'file', multiple: true, hidden: true }}
        accept=".jsonl,.ndjson,.json,.parquet"
        onChange={({ target }) => openPicked(target.files ?? [])}
      />
      <input
        {...{ ref: folder, type: 'file', hidden: true, webkitdirectory: '' }}
        aria-label="A folder of rollouts"
        onChange={({ target }) => openPicked(target.files ?? [])}
      />
    </div>
  );
}
