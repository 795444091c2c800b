import { useRef, useState } from 'react';

interface Props {
  readonly text: string;
  readonly label: string;
  readonly copy: string; // on the button
  readonly lines?: number; // 1 if absent
}

export function CopyField({ text, label, copy, lines = 1 }: Props) {
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const [outcome, setOutcome] = useState('');
  const press = async () => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(text);
      setOutcome('Copied.');
    } catch {
      // a page on plain http has no clipboard
      setOutcome('The browser refuses the clipboard: the text is selected, press Ctrl C.');
    }
  };
  const props = { ref: field, readOnly: true, value: text, 'aria-label': label };
  return (
    <>
      <div className="row share-link">
        {lines === 1 ? <input type="text" {...props} /> : <textarea rows={lines} {...props} />}
        <button type="button" className="primary" onClick={() => void press()}>
          {copy}
        </button>
      </div>
      <p className="faint" role="status">
        {outcome}
      </p>
    </>
  );
}
