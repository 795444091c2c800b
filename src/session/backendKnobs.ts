import type { FieldName } from '../config/fields.ts';
import { BackendError, type Demand } from '../model/policy.ts';

/** The knobs that each demand on a backend comes from. */
const KNOBS: Readonly<Record<Demand, readonly FieldName[]>> = {
  rows: ['prompts', 'groupSize'],
  minibatchRows: ['minibatches'],
  length: ['maxTurns'],
  width: ['width'],
  ffn: ['ffn'],
  layers: ['layers'],
  heads: ['heads'],
  critic: ['critic'],
  storage: ['storage'],
  backend: ['backend'],
};

/** A backend can't run with these knobs, and it is known which of them would make it possible. */
export class KnobsError extends BackendError {
  readonly knobs: readonly FieldName[];
  constructor(what: string, remedy: string, knobs: readonly FieldName[]) {
    super(what, remedy);
    this.knobs = knobs;
  }
}

/** The knobs to change after a backend refused a run. */
export function knobsOf(error: BackendError): readonly FieldName[] {
  return error instanceof KnobsError ? error.knobs : error.demands.flatMap((demand) => KNOBS[demand]);
}
