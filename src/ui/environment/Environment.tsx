import { lazy, Suspense, useEffect, useId, useState } from 'react';
import { languageOf } from '../../domain/environmentFile.ts';
import { noteAddress } from '../address/lastAddress.ts';
import { routeOf } from '../address/hash.ts';
import { Header } from '../shell/Header.tsx';
import { StatusLine } from '../shell/StatusLine.tsx';
import '../styles/environment.css';
import { CheckPanel } from './CheckPanel.tsx';
import { readEnvironmentHash } from './environmentAddress.ts';
import { EnvironmentBar } from './EnvironmentBar.tsx';
import { place, useEnvironment } from './environmentStore.ts';
import { keepReading } from './examine.ts';
import { PausedAtFault } from './PausedAtFault.tsx';
import { ReadingLine } from './ReadingLine.tsx';

const Editor = lazy(() => import('./Editor.tsx').then((m) => ({ default: m.Editor })));

/** The screen on which a person writes an environment: the editor, and beside it the check. */
export function Environment() {
  const corrections = useLinkedFile();
  const python = useEnvironment((s) => languageOf(s.file) === 'python');
  const byLink = useEnvironment((s) => s.file.byLink);
  const refused = useEnvironment((s) => s.refused);
  const keys = useId();
  useEffect(keepReading, []);
  return (
    <>
      <Header />
      <main className="environment screen pane" data-pane="watch">
        {[...corrections, ...(refused === null ? [] : [refused])].map((text) => (
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
            reach the network or the rest of this page.
          </p>
        )}
        <div className="environment-body">
          <section className="environment-file" aria-label="The file">
            <Suspense fallback={<div className="editor" aria-busy="true" />}>
              <Editor label={python ? 'Environment, as Python' : 'Environment, as TypeScript'} describedBy={keys} />
            </Suspense>
            <div className="row between">
              <ReadingLine />
              <p id={keys} className="faint small">
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

/** Opens the file that an address holds and removes it from the address, which would no longer match once the file is edited. Returns the problems with the address. */
function useLinkedFile(): readonly string[] {
  const [corrections, setCorrections] = useState<readonly string[]>([]);
  useEffect(() => {
    const read = () => {
      if (routeOf(location.hash) !== 'environment') return;
      const found = readEnvironmentHash(location.hash);
      setCorrections(found.corrections);
      if (found.file) place(found.file, true);
      if (location.hash === '#/environment') return;
      history.replaceState(history.state, '', '#/environment');
      noteAddress('#/environment');
    };
    read();
    addEventListener('popstate', read);
    return () => removeEventListener('popstate', read);
  }, []);
  return corrections;
}
