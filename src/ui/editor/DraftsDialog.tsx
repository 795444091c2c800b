import { useEffect } from 'react';
import { Dialog } from '../parts/Dialog.tsx';
import { type Draft, MAX_VERSIONS, onOtherTabsDrafts } from '../../page/environment/drafts.ts';
import {
  openDraft,
  readDrafts,
  removeDraft,
  useEnvironment,
  VERSION_PAUSE_MS,
} from '../../page/environment/environmentStore.ts';

export function DraftsDialog({ close }: { readonly close: () => void }) {
  const drafts = useEnvironment((s) => s.drafts);
  const file = useEnvironment((s) => s.file);
  useEffect(() => {
    readDrafts();
    return onOtherTabsDrafts(readDrafts);
  }, []);
  const names = [...new Set(drafts.map(({ name }) => name))];
  const isOpen = (draft: Draft) => draft.name === file.name && draft.text === file.text;
  return (
    <Dialog title="Your drafts" className="templates" onClose={close}>
      <p className="soft">
        What you write stays here, in this browser: the newest {MAX_VERSIONS} versions of each name. A version ends when
        you open another file, or leave it alone for {VERSION_PAUSE_MS / 60_000} minutes. Each tab writes its own. To
        keep a text for good, save it as a file.
      </p>
      <ul data-testid="drafts">
        {names.map((name) => (
          <li key={name}>
            <b className="mono">{name || 'without a name'}</b>
            {drafts
              .filter((draft) => draft.name === name)
              .map((draft) => (
                <div key={draft.id} className="row between draft">
                  <span>
                    <time dateTime={new Date(draft.changed).toISOString()}>
                      {new Date(draft.changed).toLocaleString()}
                    </time>{' '}
                    <span className="faint">{lineCount(draft.text)}</span>
                  </span>
                  {isOpen(draft) ? (
                    <span className="faint">in the editor</span>
                  ) : (
                    <span className="row">
                      <button
                        type="button"
                        className="small"
                        aria-label={`Open ${name} of ${new Date(draft.changed).toLocaleString()}`}
                        onClick={() => {
                          openDraft(draft);
                          close();
                        }}
                      >
                        Open
                      </button>
                      <button
                        type="button"
                        className="small quiet"
                        aria-label={`Delete ${name} of ${new Date(draft.changed).toLocaleString()}`}
                        onClick={() => removeDraft(draft.id)}
                      >
                        Delete
                      </button>
                    </span>
                  )}
                </div>
              ))}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function lineCount(text: string): string {
  const count = text.split('\n').length;
  return count === 1 ? '1 line' : `${count} lines`;
}
