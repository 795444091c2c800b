import type { EnvironmentFile } from './domain/environmentFile.ts';
import type { Declaration } from './written/script/declaration.ts';
import {
  type Examination,
  examine,
  problemsOf,
  readFile,
  type ExaminerCommand,
  type ExaminerEvent,
} from './written/examination.ts';
import { ownEnvironmentOpener, PAGE_RUNTIMES, virtualMachine } from './worker/ownEnvironmentOpener.ts';
import { declarationOf, sandboxFor } from './written/languages.ts';

/**
 * The worker that reads, checks and exports a person's environment. Whatever the environment does, the page keeps
 * working and can end the worker.
 */
const post = (event: ExaminerEvent) => globalThis.postMessage(event);
const PROGRESS_INTERVAL_MS = 50;
const KEEPALIVE_INTERVAL_MS = 1000;

type Checked = Omit<Extract<ExaminerEvent, { type: 'checked' }>, 'type'>;

async function check({ file, episodes, seed, exports }: Extract<ExaminerCommand, { type: 'check' }>): Promise<Checked> {
  let [reportedAt, latestShare] = [0, 0];
  const onProgress = (share: number) => {
    latestShare = share;
    if (performance.now() - reportedAt < PROGRESS_INTERVAL_MS) return;
    reportedAt = performance.now();
    post({ type: 'progress', share });
  };
  /**
   * Posts the last progress at intervals while `wait` runs: Python takes seconds to start, on a slow connection
   * minutes.
   */
  const withKeepalive = async <T>(wait: () => Promise<T>): Promise<T> => {
    const timer = setInterval(() => post({ type: 'progress', share: latestShare }), KEEPALIVE_INTERVAL_MS);
    try {
      return await wait();
    } finally {
      clearInterval(timer);
    }
  };
  const open = (declaration: Declaration) => withKeepalive(() => sandboxFor(declaration, PAGE_RUNTIMES));
  const untrained = () =>
    withKeepalive(async () => {
      const { untrainedReward } = await import('./session/untrainedReward.ts');
      const yieldToEvents = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
      return untrainedReward(seed, { ...ownEnvironmentOpener(file), now: () => performance.now(), yieldToEvents });
    });
  const examination = await examine(file, open, { episodes, seed, onProgress, untrained });
  return exports ? exported(file, examination) : { examination, zip: null };
}

/** Exports a checked file as a zip for other frameworks. The exporter is loaded only now, because few people use it. */
async function exported(file: EnvironmentFile, examination: Examination): Promise<Checked> {
  if (examination.problem) return { examination, zip: null };
  const [{ checkedExport }, { zipOf }, machine] = await Promise.all([
    import('./handover/classFolder.ts'),
    import('./formats/zip.ts'),
    virtualMachine(),
  ]);
  try {
    const opened = { file, declaration: declarationOf(file) };
    const files = checkedExport(opened, examination.report, new Uint8Array(machine));
    return { examination, zip: files && zipOf(files) };
  } catch (error) {
    return { examination: problemsOf(error), zip: null }; // a name is not allowed in Python
  }
}

globalThis.addEventListener('message', ({ data }: MessageEvent<ExaminerCommand>) => {
  if (data.type === 'read') {
    post({ type: 'read', reading: readFile(data.file) });
    return;
  }
  const checked = data.type === 'check' ? check(data) : exported(data.file, data.examination);
  const report = checked.then((result) => post({ type: 'checked', ...result }));
  report.catch((error: unknown) =>
    post({ type: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});
post({ type: 'here' });
