import type { FieldName, RunConfig } from './fields.ts';

/** The training engines that a run can be exported to. */
export const ENGINES = ['verl', 'trl'] as const;
export type Engine = (typeof ENGINES)[number];

/** A knob's counterpart in the settings of each engine, as text for people. */
export type MappedKnob = Readonly<Record<Engine, string>> & {
  readonly knob: FieldName;
  readonly value: RunConfig[FieldName];
};
