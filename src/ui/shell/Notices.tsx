import '../styles/notices.css';
import { dismissNotices, useNotices } from './notices.ts';

/** Sentences for whatever screen is on view, until they are dismissed. */
export function Notices() {
  const sentences = useNotices((s) => s.sentences);
  return (
    <div role="status" className="float notices" data-testid="notices">
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
