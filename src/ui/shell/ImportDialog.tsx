import { ENVIRONMENTS } from '../../config/environments.ts';
import { visible } from '../../base/visible.ts';
import { backendText } from '../../runs/run.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { count, bytes, counted } from '../../page/words/numberText.ts';
import { Icon } from '../parts/Icon.tsx';
import { useLive } from '../../page/view/liveStore.ts';
import { closeImport, continueImported, type ImportStatus, useImport } from '../../page/files/importFolder.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { serverNamed } from '../../domain/serverAddress.ts';
import { TermList } from '../parts/TermList.tsx';
import './import.css';

export function ImportDialog() {
  const imported = useImport((s) => s.status);
  if (!imported) return null;
  return (
    <Dialog title="Import a checkpoint" className="help import" onClose={closeImport}>
      <div className="stack" aria-live="polite">
        {imported.kind === 'reading' && (
          <div className="row">
            <p>Reading {imported.name} …</p>
            <button type="button" className="small end" onClick={closeImport}>
              Cancel
            </button>
          </div>
        )}
        {imported.kind === 'refused' && <RefusedImport {...imported} />}
        {imported.kind === 'run' && <ImportedRun {...imported} />}
      </div>
    </Dialog>
  );
}

function RefusedImport({ name, reasons }: Extract<ImportStatus, { kind: 'refused' }>) {
  return (
    <>
      <p role="alert">
        <b>{name} can’t be imported.</b> Nothing has changed.
      </p>
      <ul className="reasons small">
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
      <div className="row">
        <button type="button" onClick={closeImport}>
          Close
        </button>
      </div>
    </>
  );
}

function ImportedRun(imported: Extract<ImportStatus, { kind: 'run' }>) {
  const { run, parameters, foreign, name } = imported;
  const busy = useLive((s) => s.session === 'ready' && s.update > 0);
  const { config, progress } = run.checkpoint;
  const details: readonly (readonly [string, string])[] = [
    ['Run', foreign ? `an external model, ${foreign.kind}` : run.name],
    ['File', name],
    ['Environment', config.env],
    ['Advantage', config.estimator],
    [
      'Update',
      foreign ? '0: its weights are the start and the KL reference' : `${progress.update} of ${config.updates}`,
    ],
    ['Parameters', count(parameters)],
    ...(foreign ? [] : [['Trained on', backendText(run.backend)] as const]),
    ...(foreign && foreign.widened.length > 0 ? [['Widened', `${foreign.widened.join(', ')} to F32`] as const] : []),
    ...(ENVIRONMENTS[config.env].facts === 'own' ? [['Facts', run.facts?.source ?? 'none in the file'] as const] : []),
  ];
  const EnvironmentNote = serverNamed(run.environment) === null ? ProgramInRun : ServerInRun;
  return (
    <>
      <TermList terms={details} />
      {!foreign && run.environment && <EnvironmentNote file={run.environment} />}
      <p className="faint">
        {foreign
          ? 'Training starts from these weights with the current knobs; optimizer moments and critic start at 0.'
          : 'It continues bit for bit on the backend it was trained on.'}
        {busy && ' It replaces the current run; you can undo that for eight seconds.'}
      </p>
      <div className="row">
        <button type="button" className="primary" onClick={() => continueImported(imported)}>
          <Icon name="restart" />{' '}
          {foreign ? 'Train from it' : `${continueLabel(run.environment)} from update ${progress.update}`}
        </button>
        <button type="button" className="quiet" onClick={closeImport}>
          Cancel
        </button>
      </div>
    </>
  );
}

const MAX_LINE_CHARACTERS = 10_000;

/** The button's text. Names the program that it starts or the server that it connects to. */
function continueLabel(file: EnvironmentFile | null): string {
  const server = serverNamed(file);
  if (server !== null) return `Connect to ${server} and continue`;
  return file ? `Run ${visible(file.name)}` : 'Continue';
}

/** The server that a run from a file would talk to. */
function ServerInRun({ file: { text } }: { readonly file: EnvironmentFile }) {
  return (
    <section className="stack" aria-label="The server of this run" data-testid="server-in-run">
      <p>
        This run’s environment is a server on your machine:{' '}
        <b className="mono">{visible(text.trim(), MAX_LINE_CHARACTERS)}</b>. Nothing has been sent to it yet. When you
        continue, the run connects to it. Addresses of other machines are refused.
      </p>
    </section>
  );
}

/** The program in a run that came as a file, for the user to read before it runs. */
function ProgramInRun({ file: { name, text } }: { readonly file: EnvironmentFile }) {
  const lines = text.split(/\r?\n/);
  return (
    <section className="stack" aria-label="The program in this run" data-testid="program-in-run">
      <p>
        This run trains on an environment that somebody wrote: <b className="mono">{visible(name)}</b> (
        {bytes(new TextEncoder().encode(text).length)}, {counted(lines.length, 'line')}). It’s a program, and it hasn’t
        run yet. When you continue, it runs in a sandbox, which can’t reach the network or the rest of this page.
      </p>
      <details open>
        <summary>Read it first</summary>
        <pre translate="no" className="program" role="region" tabIndex={0} aria-label={`The text of ${visible(name)}`}>
          {/* characters that reorder a line or can't be seen would hide what it does */}
          {lines.map((line) => visible(line.replaceAll('\t', '  '), MAX_LINE_CHARACTERS)).join('\n')}
        </pre>
      </details>
    </section>
  );
}
