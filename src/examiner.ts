import type { EnvironmentFile } from './domain/environmentFile.ts';
import type { Declaration } from './written/declaration.ts';
import { type Examination, examine, problemsOf, readFile } from './written/examination.ts';
import type { ExaminerCommand, ExaminerEvent } from './written/examinerMessages.ts';
import { PAGE_RUNTIMES } from './worker/pageRuntimes.ts';
import { virtualMachine } from './worker/virtualMachine.ts';
import { writtenFile } from './worker/writtenFile.ts';
import { declarationOf, sandboxFor } from './written/languages.ts';

/** The worker that reads, checks and exports a person's environment: the page goes on whatever the environment does, and can end it. */
const post = (event: ExaminerEvent) => globalThis.postMessage(event);
const TELL_MS = 50;
const ALIVE_MS = 1000;

type Checked = Omit<Extract<ExaminerEvent, { type: 'checked' }>, 'type'>;

async function check({ file, episodes, seed, exports }: Extract<ExaminerCommand, { type: 'check' }>): Promise<Checked> {
  let [told, latest] = [0, 0];
  const onProgress = (share: number) => {
    latest = share;
    if (performance.now() - told < TELL_MS) return;
    told = performance.now();
    post({ type: 'progress', share });
  };
  /** Says that something goes on, while it does: Python takes seconds to start, on a slow connection minutes. */
  const alive = async <T>(wait: () => Promise<T>): Promise<T> => {
    const telling = setInterval(() => post({ type: 'progress', share: latest }), ALIVE_MS);
    try {
      return await wait();
    } finally {
      clearInterval(telling);
    }
  };
  const open = (declaration: Declaration) => alive(() => sandboxFor(declaration, PAGE_RUNTIMES));
  const untrained = () =>
    alive(async () => {
      const { untrainedReward } = await import('./session/untrainedReward.ts');
      const yieldToEvents = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
      return untrainedReward(seed, { ...writtenFile(file), now: () => performance.now(), yieldToEvents });
    });
  const examination = await examine(file, open, { episodes, seed, onProgress, untrained });
  return exports ? exported(file, examination) : { examination, zip: null };
}

/** A checked file as a zip for other frameworks. What writes it is loaded now: few ask for it. */
async function exported(file: EnvironmentFile, examination: Examination): Promise<Checked> {
  if (examination.problem) return { examination, zip: null };
  const [{ checkedExport }, { zipOf }, machine] = await Promise.all([
    import('./written/exports/exportFolder.ts'),
    import('./formats/zip.ts'),
    virtualMachine(),
  ]);
  try {
    const opened = { file, declaration: declarationOf(file) };
    const files = checkedExport(opened, examination.report, new Uint8Array(machine));
    return { examination, zip: files && zipOf(files) };
  } catch (error) {
    return { examination: problemsOf(error), zip: null }; // a name that Python can't have
  }
}

globalThis.addEventListener('message', ({ data }: MessageEvent<ExaminerCommand>) => {
  if (data.type === 'read') {
    post({ type: 'read', reading: readFile(data.file) });
    return;
  }
  const checked = data.type === 'check' ? check(data) : exported(data.file, data.examination);
  const report = checked.then((found) => post({ type: 'checked', ...found }));
  report.catch((error: unknown) =>
    post({ type: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});
post({ type: 'here' });
