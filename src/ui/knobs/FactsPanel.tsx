import { useEffect, useRef, useState } from 'react';
import { FactsLoaded, FactsProblems, FactsDrop } from './FactsStatus.tsx';
import { readFacts, restoreFacts, useFacts, useFactsOpen } from '../../page/training/factsStore.ts';
import './facts.css';

export function FactsPanel() {
  const open = useFactsOpen();
  const panel = useRef<HTMLDetailsElement>(null);
  useEffect(() => void restoreFacts(), []);
  const dropped = useFacts((s) => s.droppedFiles);
  useEffect(() => {
    if (dropped > 0) panel.current?.scrollIntoView({ block: 'nearest' });
  }, [dropped]);
  return (
    <details className="subgroup your-facts" open={open} ref={panel} data-testid="your-facts">
      <summary>
        <h3>Your own facts (CSV)</h3>
      </summary>
      <p className="faint">
        One fact per line: subject, relation, object. At most 1 MB and 20,000 lines. Facts are read in this page and
        sent nowhere.
      </p>
      <FactsInputs />
      <FactsProblems testId="facts-problems" />
      <FactsLoaded testId="facts-loaded" />
    </details>
  );
}

function FactsInputs() {
  const [text, setText] = useState('');
  return (
    <>
      <FactsDrop />
      <label className="stack paste">
        <span>or paste</span>
        <textarea
          rows={3}
          spellCheck={false}
          placeholder={'Ada,teacher,Ben\nBen,city,Lima'}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <button type="button" className="quiet" disabled={text.trim() === ''} onClick={() => void readFacts(text)}>
        Read pasted facts
      </button>
    </>
  );
}
