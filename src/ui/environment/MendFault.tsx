import { type EnvironmentFile, environmentSum } from '../../domain/environmentFile.ts';
import { Icon } from '../parts/Icon.tsx';
import { givenEnvironment, goOnWith } from '../run/engine.ts';
import { useLive } from '../run/liveStore.ts';
import { goToLine, place, useEnvironment } from './environmentStore.ts';

/** What can be done where the environment that a person wrote has failed: mend it in the editor, and go on with what stands there. */
export function MendFault({ inEditor = false }: { readonly inEditor?: boolean }) {
  const line = useLive((s) => s.problem?.line ?? null);
  const mended = useEnvironment((s) => s.file);
  const failed = givenEnvironment();
  const differs = failed !== null && environmentSum(mended) !== environmentSum(failed) && mended.name === failed.name;
  return (
    <>
      {differs && (
        <button type="button" className="primary" onClick={() => goOn(mended)}>
          <Icon name="play" /> Go on with the mended file
        </button>
      )}
      <button type="button" className={differs ? 'quiet' : 'primary'} onClick={() => openEditor(line)}>
        {inEditor ? 'Go to' : 'Open the editor at'} {line === null ? 'the file' : `line ${line}`}
      </button>
    </>
  );
}

function goOn({ name, text }: EnvironmentFile): void {
  goOnWith({ name, text });
  location.assign('#/lab');
}

/** Shows the file that failed in the editor, unless it is being mended there. */
function openEditor(line: number | null): void {
  const failed = givenEnvironment();
  const { file } = useEnvironment.getState();
  if (failed && failed.name !== file.name) place(failed, false);
  if (line !== null) goToLine(line);
  location.assign('#/environment');
}
