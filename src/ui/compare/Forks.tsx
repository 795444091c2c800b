import { RunCurves } from './RunCurves.tsx';
import { RunRow } from './RunRow.tsx';
import { useRuns } from '../../page/runs/runStore.ts';
import { Header } from '../frame/Header.tsx';
import { StatusLine } from '../frame/StatusLine.tsx';
import { useState } from 'react';
import { contradictions } from '../../config/contradictions.ts';
import { parseDecimal } from '../../base/decimal.ts';
import { OBSERVATION_STATES } from '../../config/masks.ts';
import { FIELDS, isFieldName, type Field, type FieldName, type RunConfig, knobText } from '../../config/fields.ts';
import { problemText } from '../../base/problem.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import type { TrainedArm as TrainedRuns } from '../../page/training/armWorker.ts';
import { lastChangedKnob } from '../../page/runs/lastChangedKnob.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { READY_COMPARISONS, suggestedValue, configToFork, forkRun } from '../../page/experiments/readyComparisons.ts';
import {
  cancelComparison,
  SEEDS_PER_PRESS,
  trainMoreSeeds,
  progressWords,
  undoComparison,
  useComparison,
} from '../../page/experiments/comparisonStore.ts';
import { pairsOf } from '../../page/experiments/comparisonVerdict.ts';
import { pause as pauseRecording } from '../../page/view/player.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { startPreset, stepToPushedObservation } from '../../page/learn/chapterActions.ts';
import { valuesFile } from '../../page/experiments/ownExperiment.ts';
import { fileHash } from '../../page/experiments/planAddress.ts';
import { NumberInput } from '../parts/NumberInput.tsx';
import './runs.css';
import './forks.css';

export function Forks() {
  return (
    <>
      <Header />
      <main className="runs screen pane" data-pane="watch">
        <section className="run-list panel" aria-label="Forks">
          <ComparisonPanel />
          <TrainedRuns />
        </section>
        <RunCurves />
      </main>
      <StatusLine />
    </>
  );
}

function TrainedRuns() {
  const runs = useRuns((s) => s.runs);
  const arms = runs.filter(({ arm }) => arm !== undefined);
  if (arms.length === 0) return null;
  return (
    <>
      <div className="panel-head">
        <h2>Runs of comparisons</h2>
      </div>
      {arms.map((run) => (
        <RunRow key={run.id} run={run} />
      ))}
    </>
  );
}

const FORK_UPDATES = 40; // until another number is typed
const FORKABLE_KNOBS = Object.entries<Field>(FIELDS).flatMap(([name, { when, group, label }]) =>
  isFieldName(name) && when !== 'restart' && group !== 'run' ? [{ name, label }] : [],
);

function ComparisonPanel() {
  const comparison = useComparison();
  const busy = comparison.state === 'running';
  return (
    <section className="comparisons grid gap-4" aria-labelledby="comparisons-title">
      <div className="panel-head">
        <h2 id="comparisons-title">Train and compare</h2>
      </div>
      <ForkForm busy={busy} />
      <div className="row" role="group" aria-label="Comparisons at one press">
        {READY_COMPARISONS.map(({ id, label, note, start }) => (
          <button key={id} type="button" title={note} disabled={busy} onClick={start}>
            {label}
          </button>
        ))}
      </div>
      {comparison.state !== 'idle' && (
        <div className="stack note good" role="status" data-testid="comparison" data-state={comparison.state}>
          {comparison.comparison && <b>{comparison.comparison.title}</b>}
          {busy && <p>{progressWords(comparison)}</p>}
          {comparison.verdict && <p className="large comparison-verdict">{comparison.verdict}</p>}
          <StartCheck results={comparison.results} />
          {comparison.problem && <p className="comparison-problem">{comparison.problem}</p>}
          <div className="row">
            {busy && (
              <button type="button" onClick={cancelComparison}>
                Cancel
              </button>
            )}
            {comparison.state === 'done' && comparison.results.length > 1 && (
              <button type="button" className="primary" onClick={() => void trainMoreSeeds()}>
                Train {SEEDS_PER_PRESS} more seeds
              </button>
            )}
            {comparison.state === 'done' &&
              comparison.results.some(
                ({ run: { config } }) => config.lossMask === 'off' && config.advantageMask === 'off',
              ) && (
                <button
                  type="button"
                  title="Trains one update in the lab with both masks off and selects an observation token that was pushed"
                  onClick={() => showDamage({ inLab: true })}
                >
                  See it token by token
                </button>
              )}
            {comparison.state === 'done' && (
              <button type="button" onClick={undoComparison}>
                Undo: delete {comparison.runIds.length === 1 ? 'this run' : 'these runs'}
              </button>
            )}
          </div>
        </div>
      )}
    </section>
  );
}

function StartCheck({ results }: { readonly results: readonly TrainedRuns[] }) {
  const pairs = pairsOf(results);
  const [[a, b] = []] = pairs;
  if (!a || !b) return null;
  const equalStarts = pairs.filter(([x, y]) => x.checksum === y.checksum && x.startUpdate === y.startUpdate).length;
  if (pairs.length > 1) {
    return (
      <p className="faint" data-testid="comparison-start">
        {equalStarts} of {pairs.length} pairs started from the same weights and draws.
      </p>
    );
  }
  return (
    <p className="faint" data-testid="comparison-start">
      {equalStarts === 1
        ? `Both started at update ${a.startUpdate} with weights ${a.checksum} and the draws of seed ${a.run.config.seed}.`
        : `Their weights differed at the start: ${a.checksum} and ${b.checksum}.`}
    </p>
  );
}

function ForkForm({ busy }: { readonly busy: boolean }) {
  useConfig((s) => s.applied); // draws the form again when the configuration to fork changes
  const started = useLive((s) => s.session === 'ready' && s.update > 0);
  const [name, setName] = useState<FieldName>(() => lastForkableChange()?.knob ?? 'lossMask');
  const [typedValue, setTyped] = useState<string | null>(null); // null: the suggested value
  const [updates, setUpdates] = useState(FORK_UPDATES);
  const field: Field = FIELDS[name];
  const config = configToFork();
  const lastChange = lastForkableChange();
  // for the knob that was changed last, suggests its former value
  const value =
    typedValue ?? knobText(lastChange?.knob === name ? lastChange.valueBefore : suggestedValue(name, config));
  const wanted = 'choices' in field ? value : (parseDecimal(value.trim()) ?? NaN);
  const problem = forkProblem(name, wanted, config);
  return (
    <form
      className="row fork"
      aria-label="Fork A/B"
      onSubmit={(event) => {
        event.preventDefault();
        void forkRun(name, wanted, updates);
      }}
    >
      <label>
        Fork with
        <select
          id="fork-knob"
          aria-label="Knob to change"
          value={name}
          onChange={(event) => {
            if (isFieldName(event.target.value)) setName(event.target.value);
            setTyped(null);
          }}
        >
          {FORKABLE_KNOBS.map((knob) => (
            <option key={knob.name} value={knob.name}>
              {knob.label}
            </option>
          ))}
        </select>
      </label>
      <span className="fork-values">
        {knobText(config[name])} → <ValueInB field={field} value={value} onChange={setTyped} />
      </span>
      <NumberInput label="Updates" value={updates} max={FIELDS.updates.max} onChange={setUpdates} />
      <button type="submit" className="primary" disabled={busy || !started || problem !== ''}>
        <Icon name="compare" /> Fork
      </button>
      {problem === '' && (
        <a href={fileHash(valuesFile(config, name, [config[name], wanted])) ?? '#/experiments'}>
          Both from the start, with several seeds
        </a>
      )}
      <p className="faint">
        {!started
          ? 'Run training first. A fork then continues your run twice: as it is, and with the change.'
          : problem ||
            'A continues unchanged, B with the change, from the same weights, optimizer state and draws. Your run is paused and kept.'}
      </p>
    </form>
  );
}

/** The last change of a knob; null if a fork can't change that knob. */
function lastForkableChange() {
  const change = lastChangedKnob();
  return change && FORKABLE_KNOBS.some(({ name }) => name === change.knob) ? change : null;
}

/** Why a knob can't have this value in the copy; '' if it can. */
function forkProblem(name: FieldName, wanted: string | number, config: RunConfig): string {
  const field: Field = FIELDS[name];
  if (!('choices' in field) && !(Number(wanted) >= field.min && Number(wanted) <= field.max)) {
    return `Use ${knobText(field.min)} to ${knobText(field.max)}.`;
  }
  const [clash] = contradictions({ ...config, [name]: wanted });
  if (clash) return problemText(clash);
  return wanted === config[name] ? 'That’s its current value.' : '';
}

interface ValueProps {
  readonly field: Field;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ValueInB({ field, value, onChange }: ValueProps) {
  if (!('choices' in field)) {
    return (
      <input
        aria-label="Value in B"
        value={value}
        inputMode="decimal"
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  return (
    <select aria-label="Value in B" value={value} onChange={(event) => onChange(event.target.value)}>
      {field.choices.map((choice) => (
        <option key={choice}>{choice}</option>
      ))}
    </select>
  );
}

let stopDamageDemo: (() => void) | undefined; // ends the listening that the last call of `showDamage` began

/** Starts the noisy hunt with both masks off, runs one update, and selects the word of the tool that the update pushed hardest. */
function showDamage({ inLab = false } = {}): void {
  pauseRecording();
  if (inLab) location.assign('#/lab');
  startPreset('noisy-hunt', OBSERVATION_STATES.graded, false);
  useSelection.setState({ channel: 'gradient', tab: 'watch' });
  stopDamageDemo?.();
  const unsubscribe = useLive.subscribe(({ session, update }) => {
    const { lossMask } = useLive.getState().config ?? {};
    if (session !== 'ready' || update !== 0 || lossMask !== 'off') return;
    unsubscribe();
    stopDamageDemo = stepToPushedObservation();
  });
  stopDamageDemo = unsubscribe;
}
