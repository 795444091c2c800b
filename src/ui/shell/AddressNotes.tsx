import { useState } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { contradictions } from '../../config/contradictions.ts';
import { problemText } from '../../base/problem.ts';
import { wordsOf } from '../../runs/change.ts';
import { dropPlanned, useConfig } from '../knobs/configStore.ts';
import { useCurrent, type Current } from '../run/currentRollout.ts';
import { useLive } from '../run/liveStore.ts';
import { useRoute } from '../address/route.ts';
import { useSelection } from './selectionStore.ts';
import '../styles/notes.css';
import { whole } from '../parts/numberText.ts';
import type { Pointed } from '../address/hash.ts';

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
    useShallow(({ shownUpdate, recorded, row, turn, token }) => ({ shownUpdate, recorded, row, turn, token })),
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

/** How far the run on this page is. */
export interface RunPosition {
  readonly update: number | null; // null: there is no run, a recording or an example is in view
  readonly updates: number; // it ends after
}

/**
 * Targets of a link that aren't in the batch in view: one sentence for each, which also says what is shown instead. Empty before
 * there is a batch, and once the reader has chosen something else.
 */
export function missingTargets(
  pointed: Pointed | null,
  chosen: Pointed,
  current: Current,
  reached: RunPosition,
): string[] {
  const { batch, rollout } = current;
  if (!pointed) return [];
  const still = (part: keyof Pointed) => pointed[part] !== null && pointed[part] === chosen[part];
  const isThere = reached.update !== null && batch.update === pointed.shownUpdate;
  // rollout, turn and token are of that update, not of the one in view
  if (still('shownUpdate') && !isThere)
    return [`update ${pointed.shownUpdate}: ${whyNot(pointed.shownUpdate ?? 0, reached)}`];
  if (batch.rows === 0) return [];
  const inRecording = reached.update === null && batch.update === pointed.recorded;
  if (still('recorded') && reached.update === null && !inRecording) {
    return [`recorded: the recording has no update ${pointed.recorded}. Shown is update ${batch.update}.`];
  }
  const found: string[] = [];
  if (pointed.row >= batch.rows) {
    if (still('row'))
      found.push(`rollout ${pointed.row} isn’t in this batch, which has 0 to ${batch.rows - 1}. Rollout 0 is shown.`);
    return found;
  }
  const turns = rollout.turns.map(({ turn }) => turn);
  if (still('turn') && !turns.includes(pointed.turn ?? 0)) {
    const last = turns.at(-1) ?? 0;
    found.push(`turn ${pointed.turn} isn’t in this rollout, which has ${turns[0] ?? 0} to ${last}. Its end is shown.`);
  }
  if (still('token') && (pointed.token ?? 0) >= rollout.words.length) {
    found.push(
      `token ${pointed.token} isn’t in this rollout, which has 0 to ${rollout.words.length - 1}. No token is selected.`,
    );
  }
  return found;
}

/** Why the rollouts of an update are not in view, and what brings them. */
function whyNot(shownUpdate: number, { update, updates }: RunPosition): string {
  if (shownUpdate > updates) return `the run ends after update ${updates}. Set Updates to ${shownUpdate} or more.`;
  if (update === null) {
    return `nothing has been trained here yet. Run training: at update ${shownUpdate} the page shows the rollout that the link points to.`;
  }
  if (update < shownUpdate)
    return `the run is at update ${update}. Continue training: at update ${shownUpdate} its rollouts are shown.`;
  return `the run no longer keeps its rollouts. Other rollouts are shown.`;
}
