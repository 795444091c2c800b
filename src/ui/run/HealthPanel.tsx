import { useShallow } from 'zustand/react/shallow';
import { FIELDS, type FieldName, type RunConfig } from '../../config/config.ts';
import type { Evidence, HealthState, Remedy, TrapKind } from '../../domain/health.ts';
import { useRecording } from '../../page/view/markedUpdate.ts';
import { editKnobs, useConfig } from '../../page/knobs/configStore.ts';
import { knobText } from '../../config/fields.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { HEALTH } from './HealthChip.tsx';
import { Icon } from '../parts/Icon.tsx';
import './health.css';

const MEANINGS: Readonly<Record<Exclude<HealthState, 'trap'> | TrapKind, string>> = {
  ok: 'No Echo Trap: rollouts of a task still differ, or still depend on what the agent reads, and success has not fallen.',
  watch: 'A first sign: rollouts become alike, success has fallen, or the reward rises without success.',
  collapse: 'RAGEN’s Echo Trap: success rose, then fell while rollouts became alike.',
  blind:
    'Rollouts look alike and hardly depend on what the agent reads, so there is little left to learn from. Success has not fallen (in RAGEN’s Echo Trap it does).',
};
const LIMITS =
  'The monitor can’t see an agent that has settled on a wrong answer for each task. It measures only every few updates whether turns depend on what was read.';

export function HealthPanel() {
  const health = useLive((s) => s.health);
  const recorded = useRecording() !== null;
  if (!health) return null;
  const { word, icon } = HEALTH[health.state];
  return (
    <section className="health panel" data-state={health.state} aria-label="Run health" data-testid="health-panel">
      <div className="panel-head">
        <h2>
          <Icon name={icon} /> {word}
        </h2>
        {recorded && <span className="chip example">recording</span>}
        <span className="faint">since update {health.since}</span>
        <span className="row end">
          <button
            type="button"
            className="quiet"
            onClick={() => useSelection.setState({ curves: 'health', tab: 'curves' })}
          >
            <Icon name="curves" /> Health curves
          </button>
          <button
            type="button"
            className="quiet icon-button small"
            aria-label="Close run health"
            onClick={() => useSelection.setState({ health: false })}
          >
            <Icon name="cross" />
          </button>
        </span>
      </div>
      <p>{MEANINGS[health.state === 'trap' ? (health.kind ?? 'blind') : health.state]}</p>
      <p className="faint">{LIMITS}</p>
      {health.evidence.length > 0 && (
        <ul className="evidence">
          {health.evidence.map((each) => (
            <EvidenceItem key={each.sign} {...each} />
          ))}
        </ul>
      )}
      {health.remedies.length > 0 && (
        <div className="row remedies">
          <h3>What may help, while it runs</h3>
          {health.remedies.map((remedy) => (
            <RemedyButton key={remedy.label} {...remedy} />
          ))}
        </div>
      )}
    </section>
  );
}

function EvidenceItem({ text, alarming }: Evidence) {
  return (
    <li data-alarming={alarming}>
      <Icon name={alarming ? 'alert' : 'watch'} />
      <span>
        <b>{alarming ? 'alarming' : 'worth watching'}:</b> {text}
      </span>
    </li>
  );
}

/** The changes are undone together, and the curves mark them like any change of knobs. */
function RemedyButton({ label, changes }: Remedy) {
  const names = Object.keys(changes) as FieldName[];
  const currentValues = useConfig(useShallow((s) => names.map((name) => s.wanted[name])));
  const isDone = names.every((name, i) => currentValues[i] === changes[name]);
  return (
    <button type="button" disabled={isDone} onClick={() => editKnobs(changes)}>
      <b>{label}</b>
      <span className="soft">
        {isDone
          ? 'done'
          : names
              .filter((name, i) => currentValues[i] !== changes[name])
              .map((name) => changeText(name, currentValues[names.indexOf(name)], changes))
              .join(', ')}
      </span>
    </button>
  );
}

function changeText(name: FieldName, before: string | number | undefined, changes: Partial<RunConfig>): string {
  return `${FIELDS[name].label} ${knobText(before ?? '')} → ${knobText(changes[name] ?? '')}`;
}
