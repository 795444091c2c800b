import { useShallow } from 'zustand/react/shallow';
import { FIELDS } from '../../config/config.ts';
import { contradictions, warnings } from '../../config/contradictions.ts';
import { said } from '../../config/configProblem.ts';
import { useConfig } from './configStore.ts';
import { start } from '../run/engine.ts';
import { useLive } from '../run/liveStore.ts';
import { pendingRestart } from '../run/pendingKnobs.ts';
import { Icon } from '../parts/Icon.tsx';

/** What is wrong or odd about the knobs as they stand. */
export function ControlNotes() {
  return (
    <>
      <Contradictions />
      <Warnings />
    </>
  );
}

function Contradictions() {
  const problems = useConfig(useShallow((s) => contradictions(s.wanted).map(said)));
  if (problems.length === 0) return null;
  return (
    <div className="note bad" role="alert">
      <p>These knobs contradict each other:</p>
      <List texts={problems} />
    </div>
  );
}

function Warnings() {
  const found = useConfig(useShallow((s) => warnings(s.wanted).map(said)));
  if (found.length === 0) return null;
  return (
    <div className="note" role="status" data-testid="warnings">
      <p>
        <Icon name="alert" /> This runs, but is rarely what you want:
      </p>
      <List texts={found} />
    </div>
  );
}

function List({ texts }: { readonly texts: readonly string[] }) {
  return (
    <ul>
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

/** Offers the restart that changed knobs wait for. */
export function RestartBar() {
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
