import { useState } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { contradictions } from '../../config/contradictions.ts';
import { problemText } from '../../base/problem.ts';
import { describedChanges } from '../../runs/change.ts';
import { dropPlannedChanges, useConfig } from '../knobs/configStore.ts';
import { useShownRollout, type ShownRollout } from '../run/currentRollout.ts';
import { useLive } from '../run/liveStore.ts';
import { useRoute } from '../address/route.ts';
import { useSelection } from './selectionStore.ts';
import '../styles/notes.css';
import { wholeNumber } from '../parts/numberText.ts';
import type { LinkTarget } from '../address/hash.ts';

/**
 * Notes shown on every screen: what the address asks for and the page doesn't have, what a link points at that isn't
 * here, and the knob changes that a link brings. Outside the lab, also knobs that cannot run together.
 */
export function AddressNotes() {
  const corrections = useConfig((s) => s.corrections);
  const inLab = useRoute() === 'lab'; // the lab's controls show contradictions themselves
  const impossible = useConfig(useShallow((s) => (inLab ? [] : contradictions(s.wanted).map(problemText))));
  const missing = useMissingTargets();
  const planned = usePlanned();
  const [accepted, setAccepted] = useState<typeof planned>(null);
  return (
    <div className="address-notes" role="status">
      {corrections.length > 0 && (
        <section className="float" aria-label="The address" data-testid="corrections">
          <p>
            <b>
              The address asks for{' '}
              {corrections.length === 1 ? 'one thing' : `${wholeNumber(corrections.length)} things`} this page doesn’t
              have:
            </b>
          </p>
          <Texts label="What the address asks for" texts={corrections} />
          <button type="button" onClick={() => useConfig.setState({ corrections: [] })}>
            Dismiss
          </button>
        </section>
      )}
      {missing.length > 0 && (
        <section className="float" aria-label="What the address points at" data-testid="absent">
          <p>
            <b>This link points at something that isn’t here yet:</b>
          </p>
          <Texts label="What is not in view" texts={missing} />
        </section>
      )}
      {planned && planned !== accepted && (
        <section className="float" aria-label="Knobs that the link changes" data-testid="planned">
          <p>
            <b>This link changes knobs while the run trains:</b>
          </p>
          <Texts
            label="What changes, and when"
            texts={describedChanges(planned.startConfig, planned.changes).map(
              ({ update, text }) => `update ${update}: ${text}`,
            )}
          />
          <p className="row">
            <button type="button" onClick={dropPlannedChanges}>
              Leave the changes out
            </button>
            <button type="button" onClick={() => setAccepted(planned)}>
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

function useMissingTargets(): readonly string[] {
  const current = useShownRollout();
  const linkTarget = useSelection((s) => s.linkTarget);
  const chosen = useSelection(
    useShallow(({ shownUpdate, recorded, row, turn, token }) => ({ shownUpdate, recorded, row, turn, token })),
  );
  const running = useLive((s) => s.running); // meanwhile rollouts come and go
  const update = useLive((s) => (s.session === 'none' ? null : s.update));
  const updates = useConfig((s) => (s.applied ?? s.wanted).updates);
  return running ? [] : missingTargets(linkTarget, chosen, current, { update, updates });
}

/** The knob changes that a link brought. Null once a run has begun, because its curves mark them then. */
function usePlanned() {
  const planned = useConfig((s) => s.planned);
  const untouched = useLive((s) => s.session === 'none');
  return untouched ? planned : null;
}

function Texts({ label, texts }: { readonly label: string; readonly texts: readonly string[] }) {
  return (
    // a scrolling box must be reachable with the keyboard
    <div className="address-texts" role="region" aria-label={label} tabIndex={0}>
      <ul>
        {[...new Set(texts)].map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  );
}

/** Progress of the run on this page. */
export interface RunPosition {
  readonly update: number | null; // null: there is no run; a recording or an example is shown
  readonly updates: number; // planned; the run ends after this one
}

/**
 * Targets of a link that aren't in the batch in view: one sentence for each, which also says what is shown instead.
 * Empty before there is a batch, and once the reader has chosen something else.
 */
export function missingTargets(
  linkTarget: LinkTarget | null,
  chosen: LinkTarget,
  current: ShownRollout,
  position: RunPosition,
): string[] {
  const { batch, rollout } = current;
  if (!linkTarget) return [];
  const isStillChosen = (part: keyof LinkTarget) => linkTarget[part] !== null && linkTarget[part] === chosen[part];
  const isShown = position.update !== null && batch.update === linkTarget.shownUpdate;
  // the link's row, turn and token belong to its own update, not to the one shown
  if (isStillChosen('shownUpdate') && !isShown)
    return [`update ${linkTarget.shownUpdate}: ${whyNotShown(linkTarget.shownUpdate ?? 0, position)}`];
  if (batch.rows === 0) return [];
  const inRecording = position.update === null && batch.update === linkTarget.recorded;
  if (isStillChosen('recorded') && position.update === null && !inRecording) {
    return [`recorded: the recording has no update ${linkTarget.recorded}. Shown is update ${batch.update}.`];
  }
  const missing: string[] = [];
  if (linkTarget.row >= batch.rows) {
    if (isStillChosen('row'))
      missing.push(
        `rollout ${linkTarget.row} isn’t in this batch, which has 0 to ${batch.rows - 1}. Rollout 0 is shown.`,
      );
    return missing;
  }
  const turns = rollout.turns.map(({ turn }) => turn);
  if (isStillChosen('turn') && !turns.includes(linkTarget.turn ?? 0)) {
    const last = turns.at(-1) ?? 0;
    missing.push(
      `turn ${linkTarget.turn} isn’t in this rollout, which has ${turns[0] ?? 0} to ${last}. Its end is shown.`,
    );
  }
  if (isStillChosen('token') && (linkTarget.token ?? 0) >= rollout.words.length) {
    missing.push(
      `token ${linkTarget.token} isn’t in this rollout, which has 0 to ${rollout.words.length - 1}. No token is selected.`,
    );
  }
  return missing;
}

/** Why the rollouts of an update aren't shown, and how to get them. */
function whyNotShown(shownUpdate: number, { update, updates }: RunPosition): string {
  if (shownUpdate > updates) return `the run ends after update ${updates}. Set Updates to ${shownUpdate} or more.`;
  if (update === null) {
    return `nothing has been trained here yet. Run training: at update ${shownUpdate} the page shows the rollout that the link points to.`;
  }
  if (update < shownUpdate)
    return `the run is at update ${update}. Continue training: at update ${shownUpdate} its rollouts are shown.`;
  return `the run no longer keeps its rollouts. Other rollouts are shown.`;
}
