import './styles/theme.css';
import './styles/base.css';
import './styles/layout.css';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { bindAddress } from '../page/view/address.ts';
import { embeddedPanel } from '../page/address/screens.ts';
import { App } from './shell/App.tsx';
import { bindNewVersion } from '../page/browser/newVersion.ts';
import { keepTranslatedTextLive } from '../page/browser/translatedText.ts';
import { inject, openEngine } from '../page/training/transport.ts';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
const Embed = lazy(() => import('./embed/Embed.tsx').then((m) => ({ default: m.Embed })));
const OPENED = /[?&]open=/; // files that were named on the command line
const WATCHED = /[?&]watch=/; // a folder that the command line names
const panel = embeddedPanel(location.search); // not null if the page is in another page's frame
bindAddress();
keepTranslatedTextLive();
createRoot(root).render(
  <StrictMode>
    {panel ? (
      <Suspense>
        <Embed panel={panel} />
      </Suspense>
    ) : (
      <App />
    )}
  </StrictMode>,
);
bindNewVersion();
openEngine();
void import('../page/view/player.ts').then((m) => m.openReplay());
void listen();

/** Binds keys and dropped files after the first paint, and sets `__playground` last: when it exists, the page reacts to input. */
async function listen(): Promise<void> {
  const { bindKeyboard } = await import('../page/shell/keyboard.ts');
  const { bindDrop } = await import('../page/shell/drop.ts');
  const { snapshot, checksum } = await import('../page/shell/snapshot.ts');
  if (!panel) {
    bindKeyboard();
    bindDrop();
    if (OPENED.test(location.search)) void (await import('../page/shell/openedFiles.ts')).openNamedFiles();
    else if (WATCHED.test(location.search)) void (await import('../page/files/watchedFolder.ts')).watchFolder();
  }
  window.__playground = { snapshot, checksum, inject };
}

if (import.meta.env.PROD && !panel && 'serviceWorker' in navigator) {
  // offline use is optional: if it is refused, the page works without it
  navigator.serviceWorker.register('./sw.js').catch(() => undefined);
}
