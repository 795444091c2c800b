import { useState } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { contradictions } from '../../config/contradictions.ts';
import { problemText } from '../../config/configProblem.ts';
import { missingTargets } from './missingTargets.ts';
import { wordsOf } from '../../runs/change.ts';
import { dropPlanned, useConfig } from '../knobs/configStore.ts';
import { useCurrent } from '../run/currentRollout.ts';
import { useLive } from '../run/liveStore.ts';
import { useRoute } from '../address/route.ts';
import { useSelection } from './selectionStore.ts';
import '../styles/notes.css';
import { whole } from '../parts/numberText.ts';

/** What the address asked for and did not get, and knobs that cannot run together where no control says so: on every screen. */
export function AddressNotes() {
  const corrections = useConfig((s) => s.corrections);
  const inLab = useRoute() === 'lab'; // the controls say it there
  const impossible = useConfig(useShallow((s) => (inLab ? [] : contradictions(s.wanted).map(problemText))));
  const absent = useAbsent();
  const planned = usePlanned();
  const [read, setRead] = useState<typeof planned>(null);
  return (
    <div className="address-notes" role="status">
      {corrections.length > 0 && (
        <section className="float" aria-label="The address" data-testid="corrections">
          <p>
            <b>
              The address asks for {corrections.length === 1 ? 'one thing' : `${whole(corrections.length)} things`} this
              page doesn’t have:
            </b>
          </p>
          <Texts label="What the address asks for" texts={corrections} />
          <button type="button" onClick={() => useConfig.setState({ corrections: [] })}>
            Dismiss
          </button>
        </section>
      )}
      {absent.length > 0 && (
        <section className="float" aria-label="What the address points at" data-testid="absent">
          <p>
            <b>This link points at something that isn’t here yet:</b>
          </p>
          <Texts label="What is not in view" texts={absent} />
        </section>
      )}
      {planned && planned !== read && (
        <section className="float" aria-label="Knobs that the link changes" data-testid="planned">
          <p>
            <b>This link changes knobs while the run trains:</b>
          </p>
          <Texts
            label="What changes, and when"
            texts={wordsOf(planned.begun, planned.changes).map(({ update, text }) => `update ${update}: ${text}`)}
          />
          <p className="row">
            <button type="button" onClick={dropPlanned}>
              Leave the changes out
            </button>
            <button type="button" onClick={() => setRead(planned)}>
              OK
            </button>
          </p>
        </section>
      )}
      {impossible.length > 0 && (
        <section aria-label="Knobs" className="float bad">
          <p>
            <b>These knobs cannot run together:</b>
          </p>
          <Texts label="Knobs that cannot run together" texts={impossible} />
        </section>
      )}
    </div>
  );
}

function useAbsent(): readonly string[] {
  const current = useCurrent();
  const pointed = useSelection((s) => s.pointed);
  const chosen = useSelection(
    useShallow(({ held, recorded, row, turn, token }) => ({ held, recorded, row, turn, token })),
  );
  const running = useLive((s) => s.running); // rollouts come and go
  const update = useLive((s) => (s.session === 'none' ? null : s.update));
  const updates = useConfig((s) => (s.applied ?? s.wanted).updates);
  return running ? [] : missingTargets(pointed, chosen, current, { update, updates });
}

/** The changes of knobs that a link brought, until a run has begun: then its curves mark them. */
function usePlanned() {
  const planned = useConfig((s) => s.planned);
  const untouched = useLive((s) => s.session === 'none');
  return untouched ? planned : null;
}

function Texts({ label, texts }: { readonly label: string; readonly texts: readonly string[] }) {
  return (
    // what scrolls must be reachable with the keyboard
    <div className="address-texts" role="region" aria-label={label} tabIndex={0}>
      <ul>
        {[...new Set(texts)].map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  );
}
