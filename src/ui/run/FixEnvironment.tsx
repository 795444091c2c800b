import { type EnvironmentFile, environmentSum } from '../../domain/environmentFile.ts';
import { serverNamed } from '../../domain/serverAddress.ts';
import { Icon } from '../parts/Icon.tsx';
import { nextEnvironment, continueWithEnvironment } from '../../page/training/engine.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { goToLine, openInEditor, useEnvironment } from '../../page/environment/environmentStore.ts';

export function FixEnvironment({ inEditor = false }: { readonly inEditor?: boolean }) {
  const line = useLive((s) => s.problem?.line ?? null);
  const editorFile = useEnvironment((s) => s.file);
  const failedFile = nextEnvironment();
  const isProgram = serverNamed(editorFile) === null; // a server's address has its own button to connect
  const isEdited =
    failedFile !== null &&
    editorFile.name === failedFile.name &&
    environmentSum(editorFile) !== environmentSum(failedFile);
  const canContinue = isEdited && isProgram;
  const label =
    line === null
      ? inEditor
        ? 'Show the file'
        : 'Open the editor'
      : `${inEditor ? 'Go to' : 'Open the editor at'} line ${line}`;
  return (
    <>
      {canContinue && (
        <button type="button" className="primary" onClick={() => continueRun(editorFile)}>
          <Icon name="play" /> Continue with the fixed file
        </button>
      )}
      <button type="button" className={canContinue ? 'quiet' : 'primary'} onClick={() => openEditor(line)}>
        {label}
      </button>
    </>
  );
}

function continueRun({ name, text }: EnvironmentFile): void {
  continueWithEnvironment({ name, text });
  location.assign('#/lab');
}

/** Shows the file that failed in the editor, unless a version of it is already open there. */
function openEditor(line: number | null): void {
  const failedFile = nextEnvironment();
  const { file } = useEnvironment.getState();
  if (failedFile && failedFile.name !== file.name) openInEditor(failedFile, false);
  if (line !== null) goToLine(line);
  location.assign('#/environment');
}
