import { useId, useRef, useState } from 'react';
import { type EnvironmentLanguage, languageOf } from '../../domain/environmentFile.ts';
import { download } from '../export/fileDownload.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { CopyField } from '../share/CopyField.tsx';
import { pageAddress } from '../share/sharedAddress.ts';
import { environmentHash } from './environmentAddress.ts';
import { bringBack, chooseLanguage, openFile, place, rename, useEnvironment } from './environmentStore.ts';
import { ExportEnvironment } from './ExportEnvironment.tsx';
import { ServerDialog } from './ServerDialog.tsx';
import { TEMPLATES } from './templates.ts';

/** The file's name, and the ways to another file and out of the page. */
export function EnvironmentBar() {
  const name = useEnvironment((s) => s.file.name);
  const before = useEnvironment((s) => s.before);
  const [dialog, setDialog] = useState<'templates' | 'share' | 'export' | 'server' | null>(null);
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
        onChange={({ target }) => rename(target.value)}
      />
      <LanguageChoice language={languageOf({ name })} />
      <button type="button" aria-haspopup="dialog" onClick={() => setDialog('templates')}>
        Start from…
      </button>
      <button type="button" onClick={() => input.current?.click()}>
        Open a file…
      </button>
      <button type="button" onClick={save}>
        Save as a file
      </button>
      <button type="button" aria-haspopup="dialog" onClick={() => setDialog('share')}>
        Share by link…
      </button>
      <button type="button" aria-haspopup="dialog" onClick={() => setDialog('export')}>
        Export…
      </button>
      <button type="button" aria-haspopup="dialog" onClick={() => setDialog('server')}>
        Use a server…
      </button>
      {before && (
        <button type="button" className="quiet end" onClick={bringBack}>
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

/** The language of the file. Another one brings another file: the one that stood here before, or a template. */
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

interface Closing {
  readonly close: () => void;
}

function TemplateDialog({ close }: Closing) {
  const now = useEnvironment((s) => s.file.text);
  return (
    <Dialog title="Start from an environment" className="templates" onClose={close}>
      <p className="soft">
        Each one is complete: you can check it and train on it as it is. To bring back your own file, press{' '}
        <i>Back to …</i>.
      </p>
      <ul data-testid="templates">
        {TEMPLATES.map(({ file, title, sentence }) => (
          <li key={file.name}>
            <button
              type="button"
              className="template"
              aria-current={file.text === now ? 'true' : undefined}
              onClick={() => {
                place(file, false);
                close();
              }}
            >
              <b>{title}</b> {languageOf(file) === 'python' && <span className="chip">Python</span>}
              <span className="soft">{sentence}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function LinkDialog({ close }: Closing) {
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
