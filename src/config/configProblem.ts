import type { FieldName } from './fields.ts';

/** What is wrong with a knob, or odd about it. */
export interface Problem {
  /** `value`: no value of this knob; `clash`: not beside other knobs; `odd`: a sentence of its own; `other`: no knob's, and `want` says all. */
  readonly kind: 'value' | 'clash' | 'odd' | 'other';
  readonly field: FieldName | null; // null: no knob's
  readonly got: string;
  readonly want: string; // what is wanted in its place, or what it stands against
  readonly do: string; // sentences
}

/** A problem in sentences, its knob first. */
export function problemText({ kind, field, got, want, do: remedy }: Problem): string {
  if (kind === 'other' || field === null) return want;
  const words = { value: `got ${got}; want ${want}`, clash: `${got}, but ${want}`, odd: want }[kind];
  return `${field}: ${words}. ${remedy}`;
}

/** A configuration that cannot run, or what else was asked for in words that are none; the message says every problem. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];
  /** A text is a problem of no knob. */
  constructor(problems: readonly (Problem | string)[]) {
    const all = problems.map((problem): Problem =>
      typeof problem === 'string' ? { kind: 'other', field: null, got: '', want: problem, do: '' } : problem,
    );
    super(all.map(problemText).join('\n'));
    this.name = 'ConfigError';
    this.problems = all;
  }
}
