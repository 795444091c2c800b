import type { EnvironmentFile } from './domain/environmentFile.ts';
import { readDeclaration } from './written/declaration.ts';
import { type Examination, examine, problemOf, readFileText } from './written/examination.ts';
import type { ExaminerCommand, ExaminerEvent } from './written/examinerMessages.ts';
import { virtualMachine } from './worker/virtualMachine.ts';
import { openSandbox } from './written/sandbox.ts';

/** The worker that reads, checks and exports a person's environment: the page goes on whatever the environment does, and can end it. */
const post = (event: ExaminerEvent) => globalThis.postMessage(event);
const TELL_MS = 50;

type Checked = Omit<Extract<ExaminerEvent, { type: 'checked' }>, 'type'>;

async function check({ file, episodes, seed, exports }: Extract<ExaminerCommand, { type: 'check' }>): Promise<void> {
  let told = 0;
  const onProgress = (share: number) => {
    if (performance.now() - told < TELL_MS) return;
    told = performance.now();
    post({ type: 'progress', share });
  };
  const wasm = await virtualMachine();
  const examination = await examine(file.text, (declaration) => openSandbox(wasm, declaration), {
    episodes,
    seed,
    onProgress,
  });
  post({ type: 'checked', ...(exports ? await exported(file, examination, wasm) : { examination, zip: null }) });
}

/** A checked file as a zip for other frameworks. What writes it is loaded now: few ask for it. */
async function exported(file: EnvironmentFile, examination: Examination, machine: ArrayBuffer): Promise<Checked> {
  if (examination.problem) return { examination, zip: null };
  const [{ checkedExport }, { zipOf }] = await Promise.all([
    import('./written/exports/checkedExport.ts'),
    import('./formats/zip.ts'),
  ]);
  try {
    const opened = { file, declaration: readDeclaration(file.text) };
    const files = checkedExport(opened, examination.report, new Uint8Array(machine));
    return { examination, zip: files && zipOf(files) };
  } catch (error) {
    return { examination: { problem: problemOf(error) }, zip: null }; // a name that Python can't have
  }
}

globalThis.addEventListener('message', ({ data }: MessageEvent<ExaminerCommand>) => {
  if (data.type === 'read') {
    post({ type: 'read', reading: readFileText(data.text) });
    return;
  }
  check(data).catch((error: unknown) =>
    post({ type: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});
post({ type: 'here' });
