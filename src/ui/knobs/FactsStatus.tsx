import { choosePreset, useConfig } from '../../page/knobs/configStore.ts';
import { start } from '../../page/training/engine.ts';
import { deleteFacts, useFacts, readFacts } from '../../page/training/factsStore.ts';
import { wholeNumber } from '../../page/words/numberText.ts';
import { useState, type DragEvent } from 'react';

interface Props {
  readonly testId: string;
}

export function FactsProblems({ testId }: Props) {
  const problems = useFacts((s) => s.problems);
  const source = useFacts((s) => s.facts?.source);
  if (problems.length === 0) return null;
  return (
    <div className="note bad" role="alert" data-testid={testId}>
      <p>These facts cannot be used:</p>
      <ul>
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
      {source !== undefined && (
        <p>
          The facts of <bdi>{source}</bdi> stay in use.
        </p>
      )}
    </div>
  );
}

const SHOWN_FACTS = 3;

export function FactsLoaded({ testId }: Props) {
  const { facts, notes, isStored } = useFacts();
  const isTraining = useConfig((s) => s.applied?.env === 'your-facts');
  if (!facts) return null;
  const entities = new Set(facts.triples.flatMap(([subject, , object]) => [subject, object])).size;
  const relations = new Set(facts.triples.map(([, relation]) => relation)).size;
  const count = (n: number, one: string, many: string) => `${wholeNumber(n)} ${n === 1 ? one : many}`;
  return (
    <div className="loaded" role="status" data-testid={testId}>
      <p>
        <b>
          <bdi>{facts.source}</bdi>
        </b>
        : {count(facts.triples.length, 'fact', 'facts')}, {count(entities, 'entity', 'entities')},{' '}
        {count(relations, 'relation', 'relations')}
        {isStored ? ', kept in this browser.' : '.'} {notes.join(' ')}
      </p>
      <ul className="faint">
        {facts.triples.slice(0, SHOWN_FACTS).map(([subject, relation, object]) => (
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
        {isTraining ? 'Restart with these facts' : 'Train on these facts'}
      </button>{' '}
      <button type="button" className="quiet" onClick={deleteFacts}>
        Forget them
      </button>
    </div>
  );
}

export function FactsDrop() {
  const [isDraggedOver, setOver] = useState(false);
  const onDrag = (inside: boolean) => (event: DragEvent) => {
    if (event.dataTransfer.types.includes('Files')) setOver(inside);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the file input inside works without a mouse
    <label
      className="stack drop"
      data-over={isDraggedOver}
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
          currentTarget.value = ''; // the same file can be chosen again once it is fixed
        }}
      />
    </label>
  );
}
