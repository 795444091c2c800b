import { type ChangeEvent, useRef } from 'react';
import { chosenFiles } from '../parts/placedFiles.ts';
import { openFiles, useOpened } from './openFiles.ts';

/** Opens runs of the command line: logs, saved folders, folders of sweeps; says what came of it. */
export function OpenRuns() {
  const { words, problems } = useOpened();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const asFolder = (input: HTMLInputElement | null) => {
    folder.current = input;
    if (input) input.webkitdirectory = true; // no attribute that React knows
  };
  const take = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    const chosen = chosenFiles(currentTarget.files);
    if (chosen.length > 0) void openFiles(chosen);
    currentTarget.value = ''; // the same can be chosen again
  };
  return (
    <div className="run-open">
      <p className="line small">
        <button type="button" className="small" onClick={() => folder.current?.click()}>
          Open folder…
        </button>
        <button type="button" className="small" onClick={() => files.current?.click()}>
          Open files…
        </button>
        <span className="faint">Runs of npm run train or sweep. Or drop them here.</span>
      </p>
      <input ref={files} type="file" multiple hidden accept=".jsonl,.json" aria-label="Files of runs" onChange={take} />
      <input ref={asFolder} type="file" hidden aria-label="Folder of runs" onChange={take} />
      <div role="status" className="small">
        {words !== '' && problems.length === 0 && <p className="faint">{words}</p>}
        {problems.length > 0 && (
          <ul className="note run-problems">
            {[words, ...problems].map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}
