import { SamplingKnobs } from '../parts/SamplingKnobs.tsx';
import { useModels } from './modelStore.ts';

/** How the model draws. */
export function ModelSampling() {
  const sampling = useModels((s) => s.sampling);
  const steps = useModels((s) => s.steps);
  return (
    <fieldset className="row chat-sampling">
      <legend className="visually-hidden">Sampling</legend>
      <SamplingKnobs sampling={sampling} set={(changed) => useModels.setState({ sampling: changed })} />
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
