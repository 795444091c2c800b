import { lazy, Suspense, useEffect, useId, useState, useRef } from 'react';
import { languageOf, type EnvironmentLanguage } from '../../domain/environmentFile.ts';
import { storeLastAddress } from '../../page/address/lastAddress.ts';
import { routeOf } from '../../page/address/hash.ts';
import { Header } from '../frame/Header.tsx';
import { StatusLine } from '../frame/StatusLine.tsx';
import { CheckPanel } from './CheckPanel.tsx';
import { readEnvironmentHash, environmentHash } from '../../page/environment/environmentAddress.ts';
import {
  openInEditor,
  useEnvironment,
  restorePreviousFile,
  chooseLanguage,
  openFile,
  renameFile,
} from '../../page/environment/environmentStore.ts';
import { readOnChange, checkAndExport, currentExamination, CHECK_TASKS } from '../../page/environment/examine.ts';
import { DraftsDialog } from './DraftsDialog.tsx';
import { ReadingLine } from './ReadingLine.tsx';
import { download } from '../../page/browser/fileDownload.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { CopyField } from '../parts/CopyField.tsx';
import { pageAddress } from '../../page/share/sharedAddress.ts';
import { ServerDialog } from './ServerDialog.tsx';
import { EMPTY_TEMPLATES, TEMPLATES } from '../../page/environment/templates.ts';
import { faultsOf } from '../../domain/checkFindings.ts';
import { wholeNumber } from '../../page/words/numberText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { FixEnvironment } from '../run/FixEnvironment.tsx';
import './editor.css';

const Editor = lazy(() => import('./Editor.tsx').then((m) => ({ default: m.Editor })));

export function Environment() {
  const corrections = useLinkedFile();
  const isPython = useEnvironment((s) => languageOf(s.file) === 'python');
  const byLink = useEnvironment((s) => s.file.byLink);
  const hasDrafts = useEnvironment((s) => s.drafts.length > 0);
  const refusalMessage = useEnvironment((s) => s.refusalMessage);
  const keysHintId = useId();
  useEffect(readOnChange, []);
  return (
    <>
      <Header />
      <main className="environment screen pane" data-pane="watch">
        {[...corrections, ...(refusalMessage === null ? [] : [refusalMessage])].map((text) => (
          <p key={text} className="note" role="alert">
            {text}
          </p>
        ))}
        <EnvironmentBar />
        <PausedAtFault />
        {byLink && (
          <p className="note" role="status" data-testid="by-link">
            This file came by a link, so somebody else may have written it. It’s a program: read it first. It runs only
            if you press <b>Check</b>, <b>Check and export</b> or <b>Train on it</b>. It runs in a sandbox, which can’t
            reach the network or the rest of this page.{' '}
            {hasDrafts && (
              <>
                What you wrote yourself is under <b>Your drafts…</b>.
              </>
            )}
          </p>
        )}
        <div className="environment-body">
          <section className="col gap-3 thin low" aria-label="The file">
            <Suspense fallback={<div className="editor" aria-busy="true" />}>
              <Editor
                label={isPython ? 'Environment, as Python' : 'Environment, as TypeScript'}
                describedBy={keysHintId}
              />
            </Suspense>
            <div className="row between">
              <ReadingLine />
              <p id={keysHintId} className="faint small">
                Tab indents. Esc, then Tab leaves the editor. Ctrl Space suggests code.
              </p>
            </div>
          </section>
          <CheckPanel />
        </div>
      </main>
      <StatusLine />
    </>
  );
}

/** Removes the file from the address, which would no longer match once the file is edited. Returns the problems with the address. */
function useLinkedFile(): readonly string[] {
  const [corrections, setCorrections] = useState<readonly string[]>([]);
  useEffect(() => {
    const openLinkedFile = () => {
      if (routeOf(location.hash) !== 'environment') return;
      const linkedFile = readEnvironmentHash(location.hash);
      setCorrections(linkedFile.corrections);
      if (linkedFile.file) openInEditor(linkedFile.file, true);
      if (location.hash === '#/environment') return;
      history.replaceState(history.state, '', '#/environment');
      storeLastAddress('#/environment');
    };
    openLinkedFile();
    addEventListener('popstate', openLinkedFile);
    return () => removeEventListener('popstate', openLinkedFile);
  }, []);
  return corrections;
}

function EnvironmentBar() {
  const name = useEnvironment((s) => s.file.name);
  const before = useEnvironment((s) => s.before);
  const hasDrafts = useEnvironment((s) => s.drafts.length > 0);
  const [dialog, setDialog] = useState<'templates' | 'drafts' | 'share' | 'export' | 'server' | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const close = () => setDialog(null);
  return (
    <div className="row environment-bar">
      <input
        type="text"
        className="mono file-name"
        aria-label="File name"
        spellCheck={false}
        value={name}
        onChange={({ target }) => renameFile(target.value)}
      />
      <LanguageChoice language={languageOf({ name })} />
      <button type="button" aria-haspopup="dialog" onClick={() => setDialog('templates')}>
        Start from…
      </button>
      <button type="button" onClick={() => input.current?.click()}>
        Open a file…
      </button>
      {hasDrafts && (
        <button type="button" aria-haspopup="dialog" onClick={() => setDialog('drafts')}>
          Your drafts…
        </button>
      )}
      <button type="button" onClick={save}>
        Save as a file
      </button>
      <button type="button" aria-haspopup="dialog" onClick={() => setDialog('share')}>
        Share by link…
      </button>
      <button type="button" aria-haspopup="dialog" onClick={() => setDialog('export')}>
        Export for an RL library…
      </button>
      <button type="button" aria-haspopup="dialog" onClick={() => setDialog('server')}>
        Connect to an environment on a server…
      </button>
      {before && (
        <button type="button" className="quiet end" onClick={restorePreviousFile}>
          Back to {before.name}
        </button>
      )}
      <label className="visually-hidden" htmlFor={id}>
        A file with an environment
      </label>
      <input
        {...{ id, ref: input, type: 'file', hidden: true }}
        accept=".ts,.js,.mts,.py,text/typescript,text/x-python"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file) void openFile(file);
          currentTarget.value = ''; // the same file can be opened again
        }}
      />
      {dialog === 'templates' && <TemplateDialog close={close} />}
      {dialog === 'drafts' && <DraftsDialog close={close} />}
      {dialog === 'share' && <LinkDialog close={close} />}
      {dialog === 'server' && <ServerDialog close={close} />}
      {dialog === 'export' && <ExportEnvironment close={close} />}
    </div>
  );
}

const LANGUAGES: readonly (readonly [EnvironmentLanguage, string])[] = [
  ['typescript', 'TypeScript'],
  ['python', 'Python (loads 6 MB once)'],
];

/** Chooses the language of the file. Another language opens another file: the last one in that language, or a template. */
function LanguageChoice({ language }: { readonly language: EnvironmentLanguage }) {
  return (
    <select
      aria-label="Language"
      value={language}
      onChange={({ target }) => {
        const chosen = LANGUAGES.find(([name]) => name === target.value);
        if (chosen) chooseLanguage(chosen[0]);
      }}
    >
      {LANGUAGES.map(([name, label]) => (
        <option key={name} value={name}>
          {label}
        </option>
      ))}
    </select>
  );
}

function save(): void {
  const { name, text } = useEnvironment.getState().file;
  const python = languageOf({ name }) === 'python';
  download(name.trim() || 'environment.ts', python ? 'text/x-python' : 'text/typescript', text);
}

interface DialogProps {
  readonly close: () => void;
}

function TemplateDialog({ close }: DialogProps) {
  const currentText = useEnvironment((s) => s.file.text);
  return (
    <Dialog title="Start from an environment" className="templates" onClose={close}>
      <p className="soft">
        Each one can be checked and trained on as it is. What you wrote stays under <i>Your drafts…</i>, above the
        editor.
      </p>
      <ul data-testid="templates">
        {[...TEMPLATES, ...EMPTY_TEMPLATES].map(({ file, title, summary }) => (
          <li key={file.name}>
            <button
              type="button"
              className="template"
              aria-current={file.text === currentText ? 'true' : undefined}
              onClick={() => {
                openInEditor(file, false);
                close();
              }}
            >
              <span className="line">
                <b>{title}</b> {languageOf(file) === 'python' && <span className="chip">Python</span>}
              </span>
              <span className="soft">{summary}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function LinkDialog({ close }: DialogProps) {
  const file = useEnvironment((s) => s.file);
  const hash = environmentHash(file);
  return (
    <Dialog title="Share this environment" className="share-environment" onClose={close}>
      {hash === null ? (
        <>
          <p>This file is too long for a link. Save it and send it: it can be opened on this screen.</p>
          <div className="row">
            <button type="button" className="primary" onClick={save}>
              Save as a file
            </button>
          </div>
        </>
      ) : (
        <>
          <p>
            The link holds the whole file, and no server stores it. When someone opens the link, nothing runs until they
            press a button.
          </p>
          <CopyField text={`${pageAddress()}${hash}`} label="Link" copy="Copy link" />
        </>
      )}
    </Dialog>
  );
}

interface Props {
  readonly close: () => void;
}

/** Says what an export is for and that it runs the file, and has the button for it. The check panel shows the result. */
function ExportEnvironment({ close }: Props) {
  const { name, byLink } = useEnvironment((s) => s.file);
  const className = useEnvironment((s) => s.reading?.result.problem === null && s.reading.result.declared.name);
  const hasPassedCheck = useEnvironment((s) => {
    const found = currentExamination(s);
    return found?.problem === null && faultsOf(found.report).length === 0;
  });
  if (languageOf({ name }) === 'python')
    return <PythonExport name={name} declared={className || 'MyTask'} close={close} />;
  return (
    <Dialog title="Export this environment" className="export-environment" onClose={close}>
      <div className="stack">
        <p>
          You get a zip. With it, TRL, verifiers, OpenEnv and verl train a model of yours on this environment. They play
          the same episodes as this page, bit for bit. The README in the zip says what each one needs.
        </p>
        {hasPassedCheck ? (
          <p className="soft">The check found no fault in this file, so it isn’t played again.</p>
        ) : (
          <p className="soft">
            <i>Check and export</i> first runs the file on {wholeNumber(CHECK_TASKS)} tasks, in the sandbox. If the
            check finds a fault, nothing is written.
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
            {hasPassedCheck ? 'Export' : 'Check and export'}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** A class in Python needs no export: TRL takes it as it is. */
function PythonExport({
  name,
  declared: className,
  close,
}: Props & { readonly name: string; readonly declared: string }) {
  const module = name.trim().replace(/\.py$/i, '');
  return (
    <Dialog title="Train on it elsewhere" className="export-environment" onClose={close}>
      <div className="stack">
        <p>TRL trains on this file as it is. Save it beside your script and name its class:</p>
        <pre translate="no">
          from {module} import {className}
          {'\n'}GRPOTrainer(…, environment_factory={className})
        </pre>
        <p className="soft">
          Only classes in TypeScript can be exported for verifiers, OpenEnv and verl. TRL doesn’t seed{' '}
          <span className="mono">random</span>; this page seeds it for each episode.
        </p>
      </div>
    </Dialog>
  );
}

/** Shown while the run is paused because its environment failed. */
function PausedAtFault() {
  const problem = useLive((s) => s.problem);
  if (problem?.cause !== 'environment-fault') return null;
  return (
    <div className="note bad stack" role="status" data-testid="paused-at-fault">
      <p>
        {problem.message} {problem.hint}
      </p>
      <div className="row">
        <FixEnvironment inEditor />
      </div>
    </div>
  );
}
