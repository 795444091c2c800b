import { FIELDS } from '../../config/fields.ts';
import { type FittingKnob, isTooLarge, type TrainingPlan } from '../../domain/trainingPlan.ts';
import { bytes } from '../parts/numberText.ts';
import { machineBytes, machineInWords } from './machine.ts';
import { MemoryParts } from './Memory.tsx';

interface Props {
  readonly plan: TrainingPlan;
  readonly turn: (knob: FittingKnob) => void; // takes what would fit
}

/** What a run would reserve, part by part, beside what there can be; where that is less, the knobs that would make it fit, each to be pressed. */
export function TrainingMemory({ plan, turn }: Props) {
  const machine = machineBytes();
  return (
    <div className="stack" aria-live="polite">
      <MemoryParts parts={plan.parts} />
      <p className="small faint">
        {plan.most === null
          ? 'On the GPU. Browsers don’t say how much memory it has.'
          : `A run on the CPU can have ${bytes(plan.most)}.`}{' '}
        {machineInWords()}
      </p>
      {plan.engine === 'cpu' && !isTooLarge(plan) && machine !== null && plan.bytes > machine && (
        <p className="note small">
          That is more memory than this machine has. The run will be slow, or the browser will end it.
        </p>
      )}
      {plan.most !== null && isTooLarge(plan) && (
        <div className="note bad small stack" role="alert">
          <p>
            The run needs {bytes(plan.bytes)}, at most {bytes(plan.most)} are possible.{' '}
            {plan.fitting.length > 0 ? 'Any of these makes it fit:' : 'Lower several knobs, or choose a smaller model.'}
          </p>
          <div className="row">
            {plan.fitting.map((knob) => (
              <button key={knob.field} type="button" className="small" onClick={() => turn(knob)}>
                {FIELDS[knob.field].label} {knob.value}: {bytes(knob.bytes)}
              </button>
            ))}
          </div>
        </div>
      )}
    </div>
  );
}
