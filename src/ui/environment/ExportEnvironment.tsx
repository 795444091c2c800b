import { Dialog } from '../parts/Dialog.tsx';
import { whole } from '../parts/numberText.ts';
import { useEnvironment } from './environmentStore.ts';
import { checkAndExport, TASKS_PLAYED } from './examine.ts';

interface Props {
  readonly close: () => void;
}

/** Says what an export is for and that it runs the file, and has the button for it. The check panel shows the result. */
export function ExportEnvironment({ close }: Props) {
  const byLink = useEnvironment((s) => s.file.byLink);
  return (
    <Dialog title="Export this environment" className="export-environment" onClose={close}>
      <div className="stack">
        <p>
          You get a zip. With it, TRL, verifiers, OpenEnv and verl train a model of yours on this environment. They play
          the same episodes as this page, bit for bit. The README in the zip says what each one needs.
        </p>
        <p className="soft">
          <i>Check and export</i> first runs the file on {whole(TASKS_PLAYED)} tasks, in the sandbox. If the check finds
          a fault, nothing is written.
        </p>
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
            Check and export
          </button>
        </div>
      </div>
    </Dialog>
  );
}
