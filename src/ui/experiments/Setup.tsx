import { FIELDS, type RunConfig } from '../../config/config.ts';
import { EXPERIMENT_NAMES, EXPERIMENTS } from '../../experiments/experimentList.ts';
import { isRun, type Experiment } from '../../experiments/experimentDefinition.ts';
import type { Plan } from '../../experiments/experimentPlan.ts';
import { defaultPlan, MOST_SEEDS } from './planAddress.ts';
import { NumberInput } from './NumberInput.tsx';
import { useExperiments } from './experimentStore.ts';

const BACKENDS: Readonly<Record<RunConfig['backend'], string>> = {
  auto: 'WebGPU, else CPU',
  gpu: 'WebGPU',
  cpu: 'CPU',
};

/** Which experiment, on how many seeds, how long, on what. */
export function Setup() {
  const plan = useExperiments((s) => s.plan);
  const experiment: Experiment = EXPERIMENTS[plan.experiment];
  const set = (changes: Partial<Plan>) =>
    useExperiments.setState({ plan: { ...plan, ...changes }, corrections: [], note: '' });
  return (
    <form className="setup" aria-label="Experiment" onSubmit={(event) => event.preventDefault()}>
      <fieldset className="choices">
        <legend>Experiment</legend>
        {EXPERIMENT_NAMES.map((name) => (
          <label key={name} className="choice">
            <input
              type="radio"
              name="experiment"
              checked={name === plan.experiment}
              onChange={() => set({ ...defaultPlan(name), backend: plan.backend })}
            />
            <b>{EXPERIMENTS[name].label}</b>
            <span className="faint">{EXPERIMENTS[name].question}</span>
          </label>
        ))}
      </fieldset>
      <NumberInput label="Seeds" value={plan.seeds} max={MOST_SEEDS} onChange={(seeds) => set({ seeds })} />
      {experiment.shared.updates === undefined ? (
        <p className="faint">Each preset runs for its own number of updates.</p>
      ) : (
        <NumberInput
          label="Updates in a run"
          value={plan.updates ?? experiment.shared.updates}
          max={FIELDS.updates.max}
          onChange={(updates) => set({ updates: updates === experiment.shared.updates ? null : updates })}
        />
      )}
      <label className="line between field">
        Backend
        <select value={plan.backend} onChange={(e) => set({ backend: e.target.value as RunConfig['backend'] })}>
          {FIELDS.backend.choices.map((choice) => (
            <option key={choice} value={choice}>
              {BACKENDS[choice]}
            </option>
          ))}
        </select>
      </label>
      <ArmChoice experiment={experiment} plan={plan} set={set} />
    </form>
  );
}

function ArmChoice(props: {
  readonly experiment: Experiment;
  readonly plan: Plan;
  readonly set: (changes: Partial<Plan>) => void;
}) {
  const { experiment, plan, set } = props;
  const runs = experiment.arms.filter(isRun).map(({ key }) => key);
  const chosen = plan.arms.length === 0 ? runs : runs.filter((key) => plan.arms.includes(key));
  const toggle = (key: string) => {
    const next = chosen.includes(key) ? chosen.filter((other) => other !== key) : [...chosen, key];
    // an experiment of nothing is not one
    if (next.length > 0) set({ arms: next.length === runs.length ? [] : runs.filter((k) => next.includes(k)) });
  };
  return (
    <details className="arms" open={plan.arms.length > 0}>
      <summary>
        Arms <span className="faint">{plan.arms.length === 0 ? 'all' : `${chosen.length} of ${runs.length}`}</span>
      </summary>
      {experiment.arms.filter(isRun).map(({ key, label }) => (
        <label key={key} className="choice">
          <input type="checkbox" checked={chosen.includes(key)} onChange={() => toggle(key)} />
          <span>{label}</span>
        </label>
      ))}
    </details>
  );
}
