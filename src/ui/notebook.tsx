import './styles/theme.css';
import './styles/base.css';
import './styles/layout.css';
import './parts/parts.css';
import './shell/shell.css';
import './run/run.css';
import './tokens/tokens.css';
import './charts/cards.css';
import { StrictMode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { openFiles, useRollouts } from '../page/files/rolloutFileStore.ts';
import { bytes } from '../page/words/numberText.ts';
import { Boundary } from './parts/Boundary.tsx';
import { OpenFiles } from './rollouts/OpenFiles.tsx';
import './embed/embed.css';

/** What python/src/rollout_playground/widget.js posts into this frame. */
type NotebookMessage =
  | { readonly type: 'theme'; readonly theme: 'light' | 'dark' }
  | { readonly type: 'received'; readonly bytes: number; readonly of: number }
  | { readonly type: 'problem'; readonly problem: string }
  | { readonly type: 'files'; readonly files: readonly { readonly path: string; readonly file: Blob }[] };

interface Props {
  readonly words: string; // while there are no files
}

/** The viewer in the output of a notebook's cell. It has a frame of its own, so that neither's styles and scripts reach the other. */
function Notebook({ words }: Props) {
  const open = useRollouts((s) => s.files.length > 0 || s.reading !== null);
  return (
    <div className="embed col">
      <Boundary name="The viewer">
        <main className="rollout-files screen pane fill low" data-open={open}>
          {open ? <OpenFiles /> : <p className="empty">{words}</p>}
        </main>
      </Boundary>
    </div>
  );
}

function start(root: Root): void {
  const draw = (words: string) =>
    root.render(
      <StrictMode>
        <Notebook words={words} />
      </StrictMode>,
    );
  draw('Waiting for the notebook’s kernel. If this stays, run the cell again.');
  addEventListener('message', ({ source, data }: MessageEvent<NotebookMessage>) => {
    if (source !== parent) return;
    if (data.type === 'theme') document.documentElement.dataset['theme'] = data.theme;
    else if (data.type === 'files') openFiles(data.files);
    else if (data.type === 'received') draw(`Received ${bytes(data.bytes)} of ${bytes(data.of)} from the kernel…`);
    else draw(data.problem);
  });
}

const root = document.getElementById('root');
if (!root) throw new Error('the frame has no #root');
start(createRoot(root));
