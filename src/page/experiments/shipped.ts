import type { Experiment } from '../../experiments/experimentDefinition.ts';
import { EXPERIMENTS, SHIPPED_EXPERIMENTS, type ExperimentName } from '../../experiments/experimentList.ts';
import { parseResults } from '../../experiments/runResult.ts';
import { useExperiments } from './experimentStore.ts';

const requested = new Set<ExperimentName>();

/** Fetches, once, the runs that come with the page and may stand in for those of an experiment, which may be a changed copy. */
export async function loadShipped({ arms }: Experiment): Promise<void> {
  const keys = new Set(arms.map(({ key }) => key));
  const names = SHIPPED_EXPERIMENTS.filter((name) => EXPERIMENTS[name].arms.some(({ key }) => keys.has(key)));
  await Promise.all(names.map(loadRuns));
}

async function loadRuns(name: ExperimentName): Promise<void> {
  if (requested.has(name)) return;
  requested.add(name);
  try {
    const response = await fetch(`${import.meta.env.BASE_URL}experiments/${name}.jsonl`);
    // some servers answer a missing file with the page itself
    if (!response.ok || response.headers.get('content-type')?.includes('html')) return;
    const { results } = parseResults(await response.text());
    useExperiments.setState(({ shippedResults }) => ({ shippedResults: [...shippedResults, ...results] }));
  } catch {
    requested.delete(name); // offline: the next call tries again
  }
}
