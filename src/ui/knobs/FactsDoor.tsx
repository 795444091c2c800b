import { useEffect } from 'react';
import { FactsDrop } from './FactsDrop.tsx';
import { FactsLoaded, FactsProblems } from './FactsRead.tsx';
import { readFacts, restoreFacts, useFacts } from './factsStore.ts';
import '../styles/facts.css';

const SAMPLE = 'worlds/sample.csv';

/** Where the task asks about a person's own facts, in the middle of the page: a place to drop them, a file to try it with, and what was read. */
export function FactsDoor() {
  const given = useFacts((s) => s.facts !== null);
  useEffect(() => void restoreFacts(), []);
  return (
    <section className="facts-door" aria-labelledby="facts-door" data-testid="facts-door">
      <h2 id="facts-door">Ask about your own facts</h2>
      {!given && (
        <p>
          Bring a file with one fact per line: <span className="mono">Ada,manager,Ben</span>. The agent learns to search
          it twice, for example for the office of Ada’s manager. The file stays on this machine.
        </p>
      )}
      {!given && (
        <div className="facts-ways">
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

/** The shipped sample, as a person would bring it. Where it cannot be fetched, what came instead is told as any file that is none. */
async function readSample(): Promise<void> {
  const response = await fetch(`${import.meta.env.BASE_URL}${SAMPLE}`);
  await readFacts(new File([await response.blob()], 'sample.csv'));
}
