import { useState } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { contradictions, FIELDS, type Field, type FieldName } from '../../config.ts';
import { inert, pendingRestart, useConfig } from '../config-store.ts';
import { start } from '../engine.ts';
import { useLive } from '../live-store.ts';
import { maskSentence } from '../sentences.ts';
import { Icon } from './Icon.tsx';
import { BADGES, Knob } from './Knob.tsx';

type Group = Field['group'];
const GROUPS: readonly { readonly group: Group; readonly title: string; readonly open: boolean }[] = [
  { group: 'masks', title: 'Masks', open: true },
  { group: 'optimizer', title: 'Optimizer', open: true },
  { group: 'objective', title: 'Objective', open: true },
  { group: 'rollout', title: 'Rollouts', open: false },
  { group: 'task', title: 'Task', open: false },
  { group: 'model', title: 'Model', open: false },
  { group: 'run', title: 'Run', open: false },
];

const NAMES = Object.keys(FIELDS) as FieldName[];

/** Every knob of a run, made from FIELDS. */
export function Controls() {
  return (
    <section className="controls pane" aria-label="Controls" data-pane="tune">
      <div className="controls-legend">
        {Object.entries(BADGES).map(([when, { word, doc }]) => (
          <span key={when} className="badge" data-when={when} title={doc}>
            <Icon name={when as keyof typeof BADGES} /> {word}
          </span>
        ))}
      </div>
      <div className="controls-scroll">
        <Corrections />
        <Contradictions />
        {GROUPS.map((entry) => (
          <KnobGroup key={entry.group} {...entry} />
        ))}
      </div>
      <RestartBar />
    </section>
  );
}

function KnobGroup({ group, title, open }: (typeof GROUPS)[number]) {
  const [all, setAll] = useState(false);
  const names = NAMES.filter((name) => FIELDS[name].group === group);
  // the advantage switch stays in sight: under GRPO it says why it is off
  const hidden = useConfig(
    useShallow((s) => names.filter((name) => name !== 'advantageMask' && inert(name, s.wanted) !== null)),
  );
  const changed = useConfig((s) => names.filter((name) => s.wanted[name] !== FIELDS[name].default).length);
  const shown = all ? names : names.filter((name) => !hidden.includes(name));
  return (
    <details className="knob-group" open={open}>
      <summary>
        <h2>{title}</h2>
        {changed > 0 && <span className="faint">{changed} changed</span>}
      </summary>
      {shown.map((name) => (
        <Knob key={name} name={name} />
      ))}
      {group === 'masks' && <MaskSentence />}
      {hidden.length > 0 && (
        <button type="button" className="quiet more" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Hide' : 'Show'} {hidden.length} without effect here
        </button>
      )}
    </details>
  );
}

function MaskSentence() {
  const sentence = useConfig((s) => maskSentence(s.wanted));
  return (
    <p className="mask-sentence" aria-live="polite" data-testid="mask-sentence">
      {sentence}
    </p>
  );
}

function Corrections() {
  const corrections = useConfig((s) => s.corrections);
  if (corrections.length === 0) return null;
  return (
    <div className="note" role="status" data-testid="corrections">
      <p>The address held values that had to be changed:</p>
      <ul>
        {corrections.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <button type="button" className="quiet" onClick={() => useConfig.setState({ corrections: [] })}>
        Dismiss
      </button>
    </div>
  );
}

function Contradictions() {
  const problems = useConfig(useShallow((s) => contradictions(s.wanted)));
  if (problems.length === 0) return null;
  return (
    <div className="note bad" role="alert">
      <p>These knobs cannot run together:</p>
      <ul>
        {problems.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  );
}

function RestartBar() {
  const names = useConfig(useShallow((s) => pendingRestart(s.wanted, s.applied)));
  const impossible = useConfig((s) => contradictions(s.wanted).length > 0);
  if (names.length === 0) return null;
  const labels = names.map((name) => FIELDS[name].label).join(', ');
  return (
    <div className="restart-bar">
      <p>
        Changed: <b>{labels}</b>
      </p>
      <button type="button" className="primary" disabled={impossible} onClick={() => start(useLive.getState().running)}>
        <Icon name="restart" /> Restart to apply
      </button>
    </div>
  );
}
