import { useEffect, useRef, useState, type DragEvent } from 'react';
import { choosePreset, useConfig } from './configStore.ts';
import { start } from '../run/engine.ts';
import { forgetFacts, readFacts, restoreFacts, useFacts, useFactsOpen } from './factsStore.ts';
import '../styles/facts.css';
import { whole } from '../parts/format.ts';

/** A person's own facts: a CSV file dropped or chosen, or text pasted; what was read, and what could not be. */
export function FactsPanel() {
  const open = useFactsOpen();
  const panel = useRef<HTMLDetailsElement>(null);
  useEffect(() => void restoreFacts(), []);
  const dropped = useFacts((s) => s.dropped);
  useEffect(() => {
    if (dropped > 0) panel.current?.scrollIntoView({ block: 'nearest' });
  }, [dropped]);
  return (
    <details className="subgroup your-facts" open={open} ref={panel} data-testid="your-facts">
      <summary>
        <h3>Your own facts (CSV)</h3>
      </summary>
      <p className="faint">
        A line for each fact: subject, relation, object. At most 1 MB and 20,000 lines. They are read in this page and
        sent nowhere.
      </p>
      <Give />
      <Problems />
      <Loaded />
    </details>
  );
}

function Give() {
  const [text, setText] = useState('');
  const [over, setOver] = useState(false);
  const onDrag = (inside: boolean) => (event: DragEvent) => {
    if (event.dataTransfer.types.includes('Files')) setOver(inside);
  };
  return (
    <>
      <label
        className="stack drop"
        data-over={over}
        onDragEnter={onDrag(true)}
        onDragLeave={onDrag(false)}
        onDrop={() => setOver(false)}
      >
        <span>Drop a CSV file, or choose one</span>
        <input
          type="file"
          accept=".csv,.tsv,.txt,text/csv"
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? [];
            if (file) void readFacts(file);
            currentTarget.value = ''; // the same file can be chosen again once it is mended
          }}
        />
      </label>
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
        Read what is pasted
      </button>
    </>
  );
}

function Problems() {
  const problems = useFacts((s) => s.problems);
  const source = useFacts((s) => s.facts?.source);
  if (problems.length === 0) return null;
  return (
    <div className="note bad" role="alert" data-testid="facts-problems">
      <p>These facts cannot be used:</p>
      <ul>
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
      {source !== undefined && (
        <p>
          Those of <bdi>{source}</bdi> are kept.
        </p>
      )}
    </div>
  );
}

const SAMPLE = 3;

function Loaded() {
  const { facts, notes, kept } = useFacts();
  const now = useConfig((s) => s.applied?.env === 'your-facts');
  if (!facts) return null;
  const entities = new Set(facts.triples.flatMap(([subject, , object]) => [subject, object])).size;
  const relations = new Set(facts.triples.map(([, relation]) => relation)).size;
  const count = (n: number, one: string, many: string) => `${whole(n)} ${n === 1 ? one : many}`;
  return (
    <div className="loaded" role="status" data-testid="facts-loaded">
      <p>
        <b>
          <bdi>{facts.source}</bdi>
        </b>
        : {count(facts.triples.length, 'fact', 'facts')}, {count(entities, 'entity', 'entities')},{' '}
        {count(relations, 'relation', 'relations')}
        {kept ? ', kept in this browser.' : '.'} {notes.join(' ')}
      </p>
      <ul className="faint">
        {facts.triples.slice(0, SAMPLE).map(([subject, relation, object]) => (
          <li key={`${subject}\n${relation}`}>
            The {relation} of <bdi>{subject}</bdi> is <bdi>{object}</bdi>.
          </li>
        ))}
      </ul>
      <button
        type="button"
        onClick={() => {
          if (useConfig.getState().wanted.env !== 'your-facts') choosePreset('your-facts');
          start(true);
        }}
      >
        {now ? 'Start again on them' : 'Train on them'}
      </button>{' '}
      <button type="button" className="quiet" onClick={forgetFacts}>
        Forget them
      </button>
    </div>
  );
}
