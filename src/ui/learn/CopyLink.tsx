import { useState } from 'react';
import { learnLink } from '../../page/learn/learnAddress.ts';
import { say } from '../../page/learn/catalogue.ts';

interface Props {
  readonly hash: string;
  readonly label: string; // what the link leads to
}

export function CopyLink({ hash, label }: Props) {
  const [status, setStatus] = useState('');
  const copy = async () => {
    const link = learnLink(hash);
    try {
      await navigator.clipboard.writeText(link);
      setStatus(say('copied'));
    } catch {
      // a page on plain http has no clipboard
      setStatus(say('notCopied', { link }));
    }
  };
  return (
    <span className="row copy-link">
      <span className="small faint" role="status">
        {status}
      </span>
      <button
        type="button"
        className="quiet icon-button small"
        aria-label={label}
        title={label}
        onClick={() => void copy()}
      >
        <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
          <path d="M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1" />
        </svg>
      </button>
    </span>
  );
}
