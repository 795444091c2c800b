import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { SpeakerCommand, SpeakerEvent } from '../../src/wire/speakerMessages.ts';

/** Workers that only listen. */
const made: Listener[] = [];
class Listener {
  onmessage: ((message: { readonly data: SpeakerEvent }) => void) | null = null;
  terminated = false;
  readonly asked: SpeakerCommand[] = [];
  constructor() {
    made.push(this);
  }
  postMessage(command: SpeakerCommand): void {
    this.asked.push(command);
  }
  terminate(): void {
    this.terminated = true;
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('Worker', Listener);
  vi.stubGlobal('requestAnimationFrame', (draw: () => void) => setTimeout(draw, 16));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const say = (event: SpeakerEvent) => made.at(-1)?.onmessage?.({ data: event });

test('a worker that is silent for three seconds is overdue until it says something, and Cancel ends it', async () => {
  const { useModels, readHeaders, cancel } = await import('../../src/page/models/modelStore.ts');
  readHeaders('slow.gguf', []);
  expect(useModels.getState()).toMatchObject({ readingName: 'slow.gguf', overdue: false });
  vi.advanceTimersByTime(2900);
  expect(useModels.getState().overdue).toBe(false);
  vi.advanceTimersByTime(200);
  expect(useModels.getState().overdue).toBe(true);
  cancel();
  expect(made.at(-1)?.terminated).toBe(true);
  expect(useModels.getState()).toMatchObject({ readingName: null, overdue: false, card: null, problem: 'Reading slow.gguf was cancelled.' }); // prettier-ignore
  vi.advanceTimersByTime(60_000);
  expect(useModels.getState().overdue).toBe(false);
});

test('after that another file is read by a new worker, and one that answers in time is never overdue', async () => {
  const { useModels, readHeaders, stopWriting } = await import('../../src/page/models/modelStore.ts');
  const before = made.length;
  readHeaders('small.gguf', []);
  expect(made).toHaveLength(before + 1);
  for (let i = 0; i < 5; i++) {
    vi.advanceTimersByTime(2000);
    say({ type: 'loading', bytes: i, totalBytes: 5 });
    expect(useModels.getState().overdue).toBe(false);
  }
  say({ type: 'refused', name: 'small.gguf', reasons: ['no'] });
  say({ type: 'done' });
  stopWriting(); // is not answered
  vi.advanceTimersByTime(60_000);
  expect(useModels.getState()).toMatchObject({ readingName: null, overdue: false, refusal: { reasons: ['no'] } });
});

test('a file whose template never ends is stopped after 20 s of silence, with its name; afterwards the worker may be silent', async () => {
  const { useModels, readHeaders, openModel, closeModel } = await import('../../src/page/models/modelStore.ts');
  closeModel(); // the worker of the test before
  readHeaders('endless.gguf', []);
  say({ type: 'alive' });
  vi.advanceTimersByTime(19_000);
  say({ type: 'alive' }); // it was only busy
  vi.advanceTimersByTime(19_000);
  expect(made.at(-1)?.terminated).toBe(false);
  vi.advanceTimersByTime(1000);
  expect(made.at(-1)?.terminated).toBe(true);
  const { readingName, problem } = useModels.getState();
  expect(readingName).toBeNull();
  expect(problem).toMatch(/20 s.*endless\.gguf/);
  readHeaders('small.gguf', []);
  say({ type: 'refused', name: 'small.gguf', reasons: ['no'] });
  openModel();
  vi.advanceTimersByTime(60_000);
  expect(made.at(-1)?.terminated).toBe(false);
});
