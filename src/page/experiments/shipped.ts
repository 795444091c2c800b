import { isExperiment, SHIPPED_EXPERIMENTS, type ExperimentName } from '../../experiments/experimentList.ts';
import { parseResults, type RunResult } from '../../experiments/runResult.ts';
import { useExperiments } from './experimentStore.ts';

const requested = new Set<ExperimentName>();

/** Fetches, once, the runs of an experiment that come with the page. If there are none, the table does not change. */
export async function loadShipped(name: string): Promise<void> {
  if (!isExperiment(name) || requested.has(name) || !SHIPPED_EXPERIMENTS.includes(name)) return;
  requested.add(name);
  try {
    const response = await fetch(`${import.meta.env.BASE_URL}experiments/${name}.jsonl`);
    // some servers answer a missing file with the page itself
    if (!response.ok || response.headers.get('content-type')?.includes('html')) return;
    const { results } = parseResults(await response.text());
    storeShipped(name, results);
  } catch {
    requested.delete(name); // offline: the next call tries again
  }
}

function storeShipped(name: ExperimentName, results: readonly RunResult[]): void {
  useExperiments.setState(({ shippedResults }) => ({
    shippedResults: { ...shippedResults, [name]: results },
  }));
}
