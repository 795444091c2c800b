import { languageOf } from '../../domain/environmentFile.ts';
import { faultsOf } from '../../domain/checkFindings.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { whole } from '../parts/numberText.ts';
import { useEnvironment } from './environmentStore.ts';
import { checkAndExport, foundInText, TASKS_PLAYED } from './examine.ts';

interface Props {
  readonly close: () => void;
}

/** Says what an export is for and that it runs the file, and has the button for it. The check panel shows the result. */
export function ExportEnvironment({ close }: Props) {
  const { name, byLink } = useEnvironment((s) => s.file);
  const declared = useEnvironment((s) => s.reading?.found.problem === null && s.reading.found.declared.name);
  const checked = useEnvironment((s) => {
    const found = foundInText(s);
    return found?.problem === null && faultsOf(found.report).length === 0;
  });
  if (languageOf({ name }) === 'python')
    return <PythonExport name={name} declared={declared || 'MyTask'} close={close} />;
  return (
    <Dialog title="Export this environment" className="export-environment" onClose={close}>
      <div className="stack">
        <p>
          You get a zip. With it, TRL, verifiers, OpenEnv and verl train a model of yours on this environment. They play
          the same episodes as this page, bit for bit. The README in the zip says what each one needs.
        </p>
        {checked ? (
          <p className="soft">The check found no fault in this file, so it isn’t played again.</p>
        ) : (
          <p className="soft">
            <i>Check and export</i> first runs the file on {whole(TASKS_PLAYED)} tasks, in the sandbox. If the check
            finds a fault, nothing is written.
          </p>
        )}
        {byLink && <p className="note">It came by a link, so somebody else may have written it. Read it first.</p>}
        <div className="row">
          <button
            type="button"
            className="primary"
            onClick={() => {
              checkAndExport();
              close();
            }}
          >
            {checked ? 'Export' : 'Check and export'}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** A class in Python needs no export: TRL takes it as it is. */
function PythonExport({ name, declared, close }: Props & { readonly name: string; readonly declared: string }) {
  const module = name.trim().replace(/\.py$/i, '');
  return (
    <Dialog title="Train on it elsewhere" className="export-environment" onClose={close}>
      <div className="stack">
        <p>TRL trains on this file as it is. Save it beside your script and name its class:</p>
        <pre>
          from {module} import {declared}
          {'\n'}GRPOTrainer(…, environment_factory={declared})
        </pre>
        <p className="soft">
          Only classes in TypeScript can be exported for verifiers, OpenEnv and verl. TRL doesn’t seed{' '}
          <span className="mono">random</span>; this page seeds it for each episode.
        </p>
      </div>
    </Dialog>
  );
}
