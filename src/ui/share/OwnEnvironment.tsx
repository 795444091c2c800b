import { ExportRun } from '../checkpoints/ExportRun.tsx';
import { visible } from '../../base/visible.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { useConfig } from '../knobs/configStore.ts';
import { givenEnvironment } from '../run/engine.ts';
import { latestCheckpoint } from '../runs/saving.ts';

/** What a link to a run on a person's own environment leaves out: the environment. Its file or the run's holds it; nothing for other runs. */
export function OwnEnvironment() {
  const own = useConfig((s) => s.wanted.env === YOUR_ENVIRONMENT);
  if (!own) return null;
  const file = givenEnvironment();
  return (
    <section className="note stack" aria-label="Your environment" data-testid="link-leaves-environment">
      <p>
        <b>This link doesn’t hold the environment{file && ` ${visible(file.name)}`}.</b> It’s a program, so a link to a
        run never brings it along: whoever opens the link gets the knobs alone and can’t train. Share the environment
        from <a href="#/environment">its editor</a>, or hand on this run with its environment as a file.
      </p>
      {latestCheckpoint() && (
        <p className="row">
          <ExportRun run={latestCheckpoint} label="Save the run’s file" small>
            Save the run’s file
          </ExportRun>
        </p>
      )}
    </section>
  );
}
