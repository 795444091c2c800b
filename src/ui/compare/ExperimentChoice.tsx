import { useRef } from 'react';
import { EXPERIMENT_NAMES, EXPERIMENTS } from '../../experiments/experimentList.ts';
import { choose, openFile, useExperiments } from '../../page/experiments/experimentStore.ts';
import { valuesFile } from '../../page/experiments/ownExperiment.ts';
import { suggestedValue } from '../../page/experiments/readyComparisons.ts';
import { useConfig } from '../../page/knobs/configStore.ts';

export function ListedChoices() {
  return (
    <fieldset className="choices">
      <legend>Experiment</legend>
      {EXPERIMENT_NAMES.map((name) => (
        <Choice key={name} name={name} {...EXPERIMENTS[name]} />
      ))}
    </fieldset>
  );
}

export function OwnChoices() {
  const own = useExperiments((s) => s.own);
  const input = useRef<HTMLInputElement>(null);
  return (
    <fieldset className="choices">
      <legend>Your own</legend>
      {Array.from(own, ([name, { plan }]) => (
        <Choice key={name} name={name} {...plan.experiment} />
      ))}
      <div className="row">
        <button type="button" title="The lab’s settings with several values of a knob" onClick={make}>
          Make your own
        </button>
        <button type="button" onClick={() => input.current?.click()}>
          Open a file…
        </button>
      </div>
      <input
        ref={input}
        type="file"
        hidden
        accept=".json"
        aria-label="File of an experiment"
        onChange={({ currentTarget }) => {
          void currentTarget.files?.[0]?.text().then(openFile);
          currentTarget.value = ''; // so that the same file can be chosen again
        }}
      />
    </fieldset>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly question: string;
}

function Choice({ name, label, question }: ChoiceProps) {
  const checked = useExperiments((s) => s.plan.experiment === name);
  return (
    <label className="choice">
      <input type="radio" name="experiment" checked={checked} onChange={() => choose(name)} />
      <b>{label}</b>
      <span className="faint">{question}</span>
    </label>
  );
}

function make(): void {
  const { wanted } = useConfig.getState();
  openFile(valuesFile(wanted, 'learningRate', [wanted.learningRate, suggestedValue('learningRate', wanted)]));
}
