import { ExportRun } from '../checkpoints/ExportRun.tsx';
import { visible } from '../../base/visible.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { serverNamed } from '../../domain/serverAddress.ts';
import { useConfig } from '../knobs/configStore.ts';
import { nextEnvironment } from '../run/engine.ts';
import { latestCheckpoint } from '../runs/saving.ts';

/** Says that a link doesn't hold the environment that a person wrote, and how to send it. Renders nothing if the run trains on another environment. */
export function OwnEnvironment() {
  const own = useConfig((s) => s.wanted.env === YOUR_ENVIRONMENT);
  if (!own) return null;
  const file = nextEnvironment();
  const server = serverNamed(file);
  if (server !== null) {
    return (
      <p className="note" data-testid="link-leaves-environment">
        <b>This link doesn’t hold the server’s address {server}.</b> Someone who opens the link gets only the knobs, and
        can name a server of their own.
      </p>
    );
  }
  return (
    <section className="note stack" aria-label="Your environment" data-testid="link-leaves-environment">
      <p>
        <b>This link doesn’t hold the environment{file && ` ${visible(file.name)}`}.</b> It’s a program, so a link to a
        run never includes it. Someone who opens the link gets only the knobs and can’t train. Share the environment
        from <a href="#/environment">its editor</a>, or send this run as a file, which includes the environment.
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
