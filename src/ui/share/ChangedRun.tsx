import { ExportRun } from '../checkpoints/ExportRun.tsx';
import { wordsOf } from '../../runs/change.ts';
import { ChangeList } from '../curves/ChangeList.tsx';
import { counted } from '../parts/countText.ts';
import { live } from '../run/liveStore.ts';
import { latestCheckpoint } from '../runs/saving.ts';
import type { LinkedRun, Unlinkable } from './linkedRun.ts';

const WHY: Readonly<Record<Unlinkable, string>> = {
  fork: 'This run began as a fork, with the weights of another run.',
  lost: 'This run has more changes of knobs than the page keeps, or comes from an older version of it.',
  long: 'This run has too many changes of knobs for a link.',
  person: 'Your own choices trained this run’s reward model.',
};

interface Props {
  readonly linked: LinkedRun & { readonly unlinkable?: Unlinkable };
}

/** The knobs that a link changes in the middle of the run; or why the link doesn't hold the run under way, with its file. Nothing if no knob was changed. */
export function ChangedRun({ linked: { begun, changes, unlinkable } }: Props) {
  if (unlinkable) return <OnlyInAFile why={WHY[unlinkable]} />;
  if (changes.length === 0) return null;
  return (
    <section className="note stack" aria-label="Knobs changed on the way" data-testid="link-changes">
      <p>The link also holds {counted(changes.length, 'change')} of knobs, each at its update:</p>
      <ChangeList changes={wordsOf(begun, changes)} />
    </section>
  );
}

function OnlyInAFile({ why }: { readonly why: string }) {
  const { flags } = live;
  return (
    <section className="note stack" aria-label="The run under way" data-testid="link-leaves-out">
      <p>
        <b>This link opens another run.</b> {why} The link starts a new run with the knobs as they are now.
      </p>
      {flags.length > 0 && <ChangeList changes={flags} />}
      {latestCheckpoint() && (
        <p className="row">
          To hand on this very run, send its file:
          <ExportRun run={latestCheckpoint} label="Save the run’s file" small>
            Save the run’s file
          </ExportRun>
        </p>
      )}
    </section>
  );
}
