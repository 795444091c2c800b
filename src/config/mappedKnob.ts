import type { FieldName, RunConfig } from './fields.ts';

/** The engines a task can be handed to. */
export const ENGINES = ['verl', 'trl'] as const;
export type Engine = (typeof ENGINES)[number];

/** What became of a knob in the settings of each engine, for people. */
export type MappedKnob = Readonly<Record<Engine, string>> & {
  readonly knob: FieldName;
  readonly value: RunConfig[FieldName];
};
