import { FIELDS } from '../../config/fields.ts';
import type { TalkSampling } from '../../domain/asking.ts';
import { useModels } from './store.ts';

const KNOBS = ['temperature', 'topK', 'topP'] as const;

/** How the model draws. */
export function Sampling() {
  const sampling = useModels((s) => s.sampling);
  const steps = useModels((s) => s.steps);
  const set = (change: Partial<TalkSampling>) => useModels.setState({ sampling: { ...sampling, ...change } });
  return (
    <fieldset className="row chat-sampling">
      <legend className="visually-hidden">Sampling</legend>
      <label className="line">
        <input type="checkbox" checked={sampling.greedy} onChange={({ target }) => set({ greedy: target.checked })} />
        <span>Greedy</span>
      </label>
      {KNOBS.map((knob) => {
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
                value >= min && value <= max && set({ [knob]: value })
              }
            />
          </label>
        );
      })}
      <label className="line">
        <span>Tokens</span>
        <input
          type="number"
          className="knob-value"
          {...{ min: 1, max: 4096, step: 1 }}
          value={steps}
          onChange={({ target: { valueAsNumber: value } }) =>
            Number.isInteger(value) && value >= 1 && value <= 4096 && useModels.setState({ steps: value })
          }
        />
      </label>
    </fieldset>
  );
}
