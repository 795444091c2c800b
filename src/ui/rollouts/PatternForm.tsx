import { useState } from 'react';
import { DEFAULT_PATTERN, PATTERN_LABELS, readNames, type SplitPattern } from '../../rollouts/splitPattern.ts';
import { setPattern, useRollouts } from './rolloutFileStore.ts';

const PARTS = Object.keys(PATTERN_LABELS) as (keyof SplitPattern)[];

/** Says that roles are guessed, by what pattern, and takes another one. */
export function PatternForm() {
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
