import { examine, readFileText } from './written/examination.ts';
import type { ExaminerCommand, ExaminerEvent } from './written/examinerMessages.ts';
import { virtualMachine } from './worker/virtualMachine.ts';
import { openSandbox } from './written/sandbox.ts';

/** The worker that reads and checks a person's environment: the page goes on whatever the environment does, and can end it. */
const post = (event: ExaminerEvent) => globalThis.postMessage(event);
const TELL_MS = 50;

async function check({ text, episodes, seed }: Extract<ExaminerCommand, { type: 'check' }>): Promise<void> {
  let told = 0;
  const onProgress = (share: number) => {
    if (performance.now() - told < TELL_MS) return;
    told = performance.now();
    post({ type: 'progress', share });
  };
  const wasm = await virtualMachine();
  const examination = await examine(text, (declaration) => openSandbox(wasm, declaration), {
    episodes,
    seed,
    onProgress,
  });
  post({ type: 'checked', examination });
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
