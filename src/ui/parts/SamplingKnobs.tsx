import { FIELDS } from '../../config/fields.ts';
import type { TalkSampling } from '../../domain/taskForm.ts';

const SAMPLING_KNOBS = ['temperature', 'topK', 'topP'] as const;

interface Props {
  readonly sampling: TalkSampling;
  readonly set: (sampling: TalkSampling) => void;
}

/** Sampling settings: greedy, or temperature, top-k and top-p with the limits of the knobs of the same names. */
export function SamplingKnobs({ sampling, set }: Props) {
  return (
    <>
      <label className="line">
        <input
          type="checkbox"
          checked={sampling.greedy}
          onChange={({ target }) => set({ ...sampling, greedy: target.checked })}
        />
        <span>Greedy</span>
      </label>
      {SAMPLING_KNOBS.map((knob) => {
        const { label, min, max } = FIELDS[knob];
        return (
          <label key={knob} className="line">
            <span>{label}</span>
            <input
              type="number"
              className="knob-value"
              disabled={sampling.greedy}
              {...{ min, max, step: 'integer' in FIELDS[knob] ? 1 : 0.05 }}
              value={sampling[knob]}
              onChange={({ target: { valueAsNumber: value } }) =>
                value >= min && value <= max && set({ ...sampling, [knob]: value })
              }
            />
          </label>
        );
      })}
    </>
  );
}
