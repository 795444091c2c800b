import { visible } from '../../base/visible.ts';
import { bytes, count } from '../parts/numberText.ts';
import { closeFiles, stopReading, useRollouts, setPattern } from './rolloutFileStore.ts';
import { useState } from 'react';
import { DEFAULT_PATTERN, PATTERN_LABELS, readNames, type SplitPattern } from '../../rollouts/splitPattern.ts';

/** What is open, how far reading is, and what could not be read. */
export function FileBar() {
  const files = useRollouts((s) => s.files);
  const reading = useRollouts((s) => s.reading);
  const stopped = useRollouts((s) => s.stopped);
  const failed = useRollouts((s) => s.failed);
  const guessed = files.some((file) => file.guessed.includes('roles'));
  const rollouts = files.reduce((sum, file) => sum + file.rollouts, 0);
  const formats = [...new Set(files.flatMap(({ format }) => format ?? []))];
  const [only] = files;
  return (
    <section className="panel stack file-bar" aria-label="Files">
      <div className="row">
        <h2>{files.length === 1 && only ? visible(only.path, 60) : `${count(files.length)} files`}</h2>
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
        <button type="button" className="small end" onClick={closeFiles}>
          Close
        </button>
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

const MOST_SHOWN = 100;

function Problems() {
  const problems = useRollouts((s) => s.problems);
  const bad = useRollouts((s) => s.files.reduce((sum, file) => sum + file.badLines, 0));
  const none = useRollouts((s) => s.reading === null && s.files.every((file) => file.rollouts === 0));
  if (problems.length === 0) return null;
  const whole = problems.filter(({ line }) => line === null);
  return (
    <details className="note problems" open={whole.length > 0 || none}>
      <summary>
        {bad === 0
          ? `${whole.length} ${whole.length === 1 ? 'file was' : 'files were'} not read.`
          : none
            ? `No rollouts found: ${bad === 1 ? 'the only line' : `all ${count(bad)} lines`} could not be read.`
            : `${count(bad)} ${bad === 1 ? 'line' : 'lines'} could not be read. The rest was read.`}
      </summary>
      <ul>
        {problems.slice(0, MOST_SHOWN).map(({ file, line, got, want }, i) => (
          <li key={i}>
            <b>{line === null ? file : `${file}, line ${line}`}</b>: found {got}, expected {want}.
          </li>
        ))}
      </ul>
    </details>
  );
}

const PARTS = Object.keys(PATTERN_LABELS) as (keyof SplitPattern)[];

/** Says that roles are guessed, by what pattern, and takes another one. */
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
          apply({ ...pattern, ...Object.fromEntries(PARTS.map((part) => [part, readNames(textOf(part))])) });
        }}
      >
        {PARTS.map((part) => (
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
