import '../styles/notices.css';
import { useNewVersion } from '../../page/browser/newVersion.ts';
import { ReloadButton } from '../parts/ReloadButton.tsx';
import { dismissNotices, useNotices } from '../../page/browser/notices.ts';

/** Messages shown on every screen until they are dismissed. */
export function Notices() {
  const sentences = useNotices((s) => s.sentences);
  const isNew = useNewVersion((s) => s.isThere);
  return (
    <div role="status" className="float notices" data-testid="notices">
      {isNew && (
        <div className="row" data-testid="new-version">
          <span>There is a new version of this page. Parts of the old one are gone.</span>
          <ReloadButton />
        </div>
      )}
      {sentences.length > 0 && (
        <>
          <ul>
            {sentences.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
          <button type="button" onClick={dismissNotices}>
            Dismiss
          </button>
        </>
      )}
    </div>
  );
}
