import { useEffect } from 'react';
import { FactsLoaded, FactsProblems, FactsDrop } from './FactsStatus.tsx';
import { readFacts, restoreFacts, useFacts } from '../../page/training/factsStore.ts';
import './facts.css';

const SAMPLE_FILE = 'worlds/sample.csv';

export function FactsSource() {
  const hasFacts = useFacts((s) => s.facts !== null);
  useEffect(() => void restoreFacts(), []);
  return (
    <section className="facts-door" aria-labelledby="facts-door" data-testid="facts-door">
      <h2 id="facts-door">Ask about your own facts</h2>
      {!hasFacts && (
        <p>
          Bring a file with one fact per line: <span className="mono">Ada,manager,Ben</span>. The agent learns to search
          it twice, for example for the office of Ada’s manager. The file stays on this machine.
        </p>
      )}
      {!hasFacts && (
        <div className="facts-ways row gap-4">
          <FactsDrop />
          <button type="button" onClick={() => void readSample()}>
            Try the sample file
          </button>
        </div>
      )}
      <FactsProblems testId="facts-door-problems" />
      <FactsLoaded testId="facts-door-loaded" />
    </section>
  );
}

/** Reads it as if a person had dropped it. If the server answers with something else, that is reported like any unreadable file. */
async function readSample(): Promise<void> {
  const response = await fetch(`${import.meta.env.BASE_URL}${SAMPLE_FILE}`);
  await readFacts(new File([await response.blob()], 'sample.csv'));
}
