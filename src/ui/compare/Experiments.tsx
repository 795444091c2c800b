import { useEffect, useMemo, useState } from 'react';
import { EXPERIMENTS, EXPERIMENT_NAMES } from '../../experiments/experimentList.ts';
import { plannedRuns, planOf, type ListedPlan } from '../../experiments/experimentPlan.ts';
import { resultTable } from '../../experiments/resultTable.ts';
import { routeOf } from '../../page/address/hash.ts';
import { planHash, readPlan, defaultPlan, MAX_SEEDS } from '../../page/experiments/planAddress.ts';
import { Brand } from '../frame/Brand.tsx';
import { HeaderEnd } from '../frame/Header.tsx';
import { useTitleParts } from '../../page/view/pageTitle.ts';
import { ViewBar } from '../frame/ViewBar.tsx';
import { DeletedResults } from './ExportButtons.tsx';
import { Results } from './Results.tsx';
import { resumeStored, cancel, pause, resume, start } from '../../page/experiments/experimentRunner.ts';
import { RunGrid } from './RunGrid.tsx';
import { loadShipped } from '../../page/experiments/shipped.ts';
import { useExperiments, missingRuns } from '../../page/experiments/experimentStore.ts';
import { duration } from '../../page/words/numberText.ts';
import { Icon } from '../parts/Icon.tsx';
import { costOf } from '../../page/experiments/experimentCost.ts';
import type { RunRequest } from '../../page/experiments/requests.ts';
import { FIELDS, type RunConfig } from '../../config/config.ts';
import { isRunArm, type Experiment } from '../../experiments/experimentDefinition.ts';
import { parseDecimal } from '../../base/decimal.ts';
import './experiments.css';

export function Experiments() {
  const plan = useExperiments((s) => s.plan);
  const results = useExperiments((s) => s.results);
  const shipped = useExperiments((s) => s.shippedResults[plan.experiment]);
  const table = useMemo(() => resultTable(planOf(plan), results, shipped), [plan, results, shipped]);
  const { label, question, doc } = EXPERIMENTS[plan.experiment];
  usePlanAddress();
  useQueueTitle();
  useEffect(resumeStored, []);
  useEffect(() => void loadShipped(plan.experiment), [plan.experiment]);
  return (
    <>
      <header className="header">
        <Brand />
        <HeaderEnd />
      </header>
      <ViewBar />
      <main className="experiments grid low">
        <PlanForm />
        <section className="experiment" aria-labelledby="experiment-title">
          <h2 id="experiment-title">{label}</h2>
          <p className="large">{question}</p>
          <p className="faint">{doc}</p>
          <QueueButtons />
          <Notices />
          <DeletedResults />
          <Results table={table} />
          <RunGrid runs={plannedRuns(table.plan)} table={table} />
        </section>
      </main>
    </>
  );
}

function Notices() {
  const corrections = useExperiments((s) => s.corrections);
  const saveError = useExperiments((s) => s.saveError);
  const note = useExperiments((s) => s.note);
  return (
    <>
      {[...corrections, ...(saveError === null ? [] : [saveError])].map((text) => (
        <p key={text} className="note" role="alert">
          {text}
        </p>
      ))}
      <p className="faint" role="status">
        {note}
      </p>
    </>
  );
}

/** Writes the form's plan into the address, and reads an address that is typed or gone back to. */
function usePlanAddress(): void {
  useEffect(() => {
    const write = () => {
      if (routeOf(location.hash) !== 'experiments') return;
      const hash = planHash(useExperiments.getState().plan);
      if (hash !== location.hash) history.replaceState(history.state, '', hash);
    };
    const read = () => {
      if (routeOf(location.hash) === 'experiments' && location.hash.includes('?'))
        useExperiments.setState(readPlan(location.hash));
    };
    read();
    write();
    const stop = useExperiments.subscribe((state, before) => {
      if (state.plan !== before.plan) write();
    });
    addEventListener('popstate', read);
    return () => {
      stop();
      removeEventListener('popstate', read);
    };
  }, []);
}

function useQueueTitle(): void {
  const running = useExperiments((s) => s.mode === 'running');
  const runsLeft = useExperiments((s) => s.waiting.length);
  useTitleParts({ progress: running ? `▶ ${runsLeft} runs left` : '' });
}

function QueueButtons() {
  const mode = useExperiments((s) => s.mode);
  const plan = useExperiments((s) => s.plan);
  const waiting = useExperiments((s) => s.waiting);
  const results = useExperiments((s) => s.results);
  const missingRequests = useMemo(() => missingRuns(plan, waiting, results), [plan, waiting, results]);
  const missingCount = missingRequests.length;
  const otherRunCount = waiting.filter((run) => run.experiment !== plan.experiment).length;
  const busy = mode !== 'idle';
  return (
    <div className="stack">
      <div className="row" role="group" aria-label="Queue">
        {(missingCount > 0 || !busy) && (
          <button type="button" className="primary" disabled={missingCount === 0} onClick={start}>
            <Icon name="play" />
            {busy ? 'Add to the queue' : 'Start'}
          </button>
        )}
        {(mode === 'running' || mode === 'elsewhere') && (
          <button type="button" disabled={mode === 'elsewhere'} onClick={pause}>
            <Icon name="pause" />
            Pause
          </button>
        )}
        {mode === 'paused' && (
          <button type="button" className="primary" onClick={resume}>
            <Icon name="play" />
            Resume
          </button>
        )}
        {busy && (
          <button type="button" onClick={cancel}>
            <Icon name="cross" />
            Cancel
          </button>
        )}
        <CostText of={missingRequests} />
      </div>
      {mode === 'elsewhere' && (
        <p className="note">
          Another tab of this page is running the queue. This tab takes over when the other is done.
        </p>
      )}
      {otherRunCount > 0 && <p className="faint">Also waiting: {otherRunCount} runs of other experiments.</p>}
      {busy && <p className="faint">The queue and finished runs survive a reload. The current run then starts over.</p>}
    </div>
  );
}

function CostText({ of: runs }: { readonly of: readonly RunRequest[] }) {
  const results = useExperiments((s) => s.results);
  const shipped = useExperiments((s) => s.shippedResults[s.plan.experiment]);
  const { seconds, updates, isMeasured } = useMemo(
    () => costOf(runs, results, shipped ?? []),
    [runs, results, shipped],
  );
  if (runs.length === 0) return null;
  return (
    <span className="cost">
      {runs.length} {runs.length === 1 ? 'run' : 'runs'}, {updates} updates in all, about {duration(seconds)}{' '}
      <span className="faint">
        {isMeasured ? 'measured here' : 'on one CPU core (a rough estimate, better after the first run)'}
      </span>
    </span>
  );
}

const BACKENDS: Readonly<Record<RunConfig['backend'], string>> = {
  auto: 'WebGPU, else CPU',
  gpu: 'WebGPU',
  cpu: 'CPU',
};

function PlanForm() {
  const plan = useExperiments((s) => s.plan);
  const experiment: Experiment = EXPERIMENTS[plan.experiment];
  const changePlan = (changes: Partial<ListedPlan>) =>
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
              onChange={() => changePlan({ ...defaultPlan(name), backend: plan.backend })}
            />
            <b>{EXPERIMENTS[name].label}</b>
            <span className="faint">{EXPERIMENTS[name].question}</span>
          </label>
        ))}
      </fieldset>
      <NumberInput label="Seeds" value={plan.seeds} max={MAX_SEEDS} onChange={(seeds) => changePlan({ seeds })} />
      {experiment.shared.updates === undefined ? (
        <p className="faint">Each preset runs for its own number of updates.</p>
      ) : (
        <NumberInput
          label="Updates in a run"
          value={plan.updates ?? experiment.shared.updates}
          max={FIELDS.updates.max}
          onChange={(updates) => changePlan({ updates: updates === experiment.shared.updates ? null : updates })}
        />
      )}
      <label className="line between field">
        Backend
        <select value={plan.backend} onChange={(e) => changePlan({ backend: e.target.value as RunConfig['backend'] })}>
          {FIELDS.backend.choices.map((choice) => (
            <option key={choice} value={choice}>
              {BACKENDS[choice]}
            </option>
          ))}
        </select>
      </label>
      <ArmChoice experiment={experiment} plan={plan} changePlan={changePlan} />
    </form>
  );
}

function ArmChoice(props: {
  readonly experiment: Experiment;
  readonly plan: ListedPlan;
  readonly changePlan: (changes: Partial<ListedPlan>) => void;
}) {
  const { experiment, plan, changePlan } = props;
  const runKeys = experiment.arms.filter(isRunArm).map(({ key }) => key);
  const chosen = plan.arms.length === 0 ? runKeys : runKeys.filter((key) => plan.arms.includes(key));
  const toggle = (key: string) => {
    const next = chosen.includes(key) ? chosen.filter((other) => other !== key) : [...chosen, key];
    // at least one variant stays chosen
    if (next.length > 0)
      changePlan({ arms: next.length === runKeys.length ? [] : runKeys.filter((k) => next.includes(k)) });
  };
  return (
    <details className="arms" open={plan.arms.length > 0}>
      <summary>
        Variants{' '}
        <span className="faint">{plan.arms.length === 0 ? 'all' : `${chosen.length} of ${runKeys.length}`}</span>
      </summary>
      {experiment.arms.filter(isRunArm).map(({ key, label, group }) => (
        <label key={key} className="choice">
          <input type="checkbox" checked={chosen.includes(key)} onChange={() => toggle(key)} />
          <span>{group === undefined ? label : `${group}: ${label}`}</span>
        </label>
      ))}
    </details>
  );
}

interface Props {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  readonly onChange: (value: number) => void;
}

/** Keeps unfinished text while typing; leaving the field restores the last valid number. */
function NumberInput({ label, value, max, onChange }: Props) {
  const [typed, setTyped] = useState<string | null>(null);
  const onType = (text: string) => {
    setTyped(text);
    const number = parseDecimal(text);
    if (number !== null && Number.isInteger(number) && number >= 1 && number <= max) onChange(number);
  };
  return (
    <label className="line between field">
      {label}
      <input
        type="number"
        min={1}
        max={max}
        value={typed ?? value}
        onChange={(event) => onType(event.target.value)}
        onBlur={() => setTyped(null)}
      />
    </label>
  );
}
