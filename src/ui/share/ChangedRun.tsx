import { ExportRun } from '../checkpoints/ExportRun.tsx';
import { ChangeList } from '../curves/ChangeList.tsx';
import { counted } from '../parts/countText.ts';
import { live } from '../run/liveStore.ts';
import { latestCheckpoint } from '../runs/saving.ts';

/** What a link to the run under way leaves out: the knobs that were changed on the way. Its file holds them; nothing where there were none. */
export function ChangedRun() {
  const { flags, isExample } = live;
  if (isExample || flags.length === 0) return null;
  const latest = latestCheckpoint();
  return (
    <section className="note stack" aria-label="Knobs changed on the way" data-testid="link-leaves-out">
      <p>
        <b>This link opens another run.</b> It starts with the knobs as they are now and leaves out when you changed
        them: {counted(flags.length, 'change')}.
      </p>
      <ChangeList changes={flags} />
      {latest && (
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
