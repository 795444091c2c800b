import { visible } from '../../base/visible.ts';
import { bytes, count } from '../../page/words/numberText.ts';
import { stopReading, useRollouts, setPattern } from '../../page/files/rolloutFileStore.ts';
import { PageActions } from './pageActions.ts';
import { useContext, useState } from 'react';
import { DEFAULT_PATTERN, PATTERN_LABELS, parseNames, type SplitPattern } from '../../rollouts/splitPattern.ts';

export function FileBar() {
  const actions = useContext(PageActions);
  const files = useRollouts((s) => s.files);
  const reading = useRollouts((s) => s.reading);
  const stopped = useRollouts((s) => s.stopped);
  const failed = useRollouts((s) => s.failed);
  const guessed = files.some((file) => file.guessed.includes('roles'));
  const rollouts = files.reduce((sum, file) => sum + file.rollouts, 0);
  const formats = [...new Set(files.flatMap(({ format }) => format ?? []))];
  const [firstFile] = files;
  return (
    <section className="panel stack file-bar" aria-label="Files">
      <div className="row">
        <h2>{files.length === 1 && firstFile ? visible(firstFile.path, 60) : `${count(files.length)} files`}</h2>
        <span className="soft" data-testid="rollouts-read">
          {count(rollouts)} rollouts · {formats.join(', ') || 'no format known'} ·{' '}
          {bytes(files.reduce((sum, file) => sum + file.bytes, 0))}
        </span>
        {reading && (
          <>
            <progress value={reading.bytes} max={reading.of} aria-label="Read so far" />
            <span className="faint">
              {bytes(reading.bytes)} of {bytes(reading.of)}
            </span>
            <button type="button" className="small" onClick={stopReading}>
              Stop
            </button>
          </>
        )}
        {stopped && <span className="chip warn">stopped: the rest was not read</span>}
        {actions && (
          <button type="button" className="small end" onClick={actions.close}>
            Close
          </button>
        )}
      </div>
      {failed && (
        <p className="note bad" role="alert">
          {failed}
        </p>
      )}
      {guessed && <PatternForm />}
      <NonFinite />
      <Problems />
    </section>
  );
}

function NonFinite() {
  const numbers = useRollouts((s) => s.files.reduce((sum, file) => sum + file.nonFinite, 0));
  if (numbers === 0) return null;
  return <p className="small soft">{count(numbers)} numbers were NaN or infinite; they are shown as absent.</p>;
}

const MAX_SHOWN_PROBLEMS = 100;

function Problems() {
  const problems = useRollouts((s) => s.problems);
  const badLines = useRollouts((s) => s.files.reduce((sum, file) => sum + file.badLines, 0));
  const foundNone = useRollouts((s) => s.reading === null && s.files.every((file) => file.rollouts === 0));
  if (problems.length === 0) return null;
  const wholeFiles = problems.filter(({ line }) => line === null);
  return (
    <details className="note problems" open={wholeFiles.length > 0 || foundNone}>
      <summary>
        {badLines === 0
          ? `${wholeFiles.length} ${wholeFiles.length === 1 ? 'file was' : 'files were'} not read.`
          : foundNone
            ? `No rollouts found: ${badLines === 1 ? 'the only line' : `all ${count(badLines)} lines`} could not be read.`
            : `${count(badLines)} ${badLines === 1 ? 'line' : 'lines'} could not be read. The rest was read.`}
      </summary>
      <ul>
        {problems.slice(0, MAX_SHOWN_PROBLEMS).map(({ file, line, got, want }, i) => (
          <li key={i}>
            <b>{line === null ? file : `${file}, line ${line}`}</b>: found {got}, expected {want}.
          </li>
        ))}
      </ul>
    </details>
  );
}

const PATTERN_PARTS = Object.keys(PATTERN_LABELS) as (keyof SplitPattern)[];

function PatternForm() {
  const pattern = useRollouts((s) => s.pattern);
  const [typed, setTyped] = useState<Readonly<Partial<Record<keyof SplitPattern, string>>>>({});
  const textOf = (part: keyof SplitPattern) => typed[part] ?? pattern[part].join(' ');
  const apply = (next: SplitPattern) => {
    setTyped({});
    setPattern(next);
  };
  return (
    <details className="pattern">
      <summary>
        <span className="chip warn">guessed</span> The file has no roles. They are guessed from{' '}
        {pattern.think.length + pattern.call.length + pattern.observation.length + pattern.answer.length} tags and from
        lines that name a role. Change…
      </summary>
      <form
        className="pattern-form"
        onSubmit={(event) => {
          event.preventDefault();
          apply({ ...pattern, ...Object.fromEntries(PATTERN_PARTS.map((part) => [part, parseNames(textOf(part))])) });
        }}
      >
        {PATTERN_PARTS.map((part) => (
          <label key={part}>
            <span className="small soft">{PATTERN_LABELS[part]}</span>
            <input value={textOf(part)} onChange={(event) => setTyped({ ...typed, [part]: event.target.value })} />
          </label>
        ))}
        <div className="row">
          <button type="submit" className="primary small">
            Apply
          </button>
          <button type="button" className="small" onClick={() => apply(DEFAULT_PATTERN)}>
            Restore the first split
          </button>
        </div>
      </form>
    </details>
  );
}
