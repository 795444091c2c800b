import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ExaminerEvent } from '../../src/written/examination.ts';

/** Workers that only listen. */
const made: Examiner[] = [];
class Examiner {
  onmessage: ((message: { readonly data: ExaminerEvent }) => void) | null = null;
  readonly asked: { readonly type: string }[] = [];
  terminated = false;
  constructor() {
    made.push(this);
  }
  postMessage(command: { readonly type: string }): void {
    this.asked.push(command);
  }
  terminate(): void {
    this.terminated = true;
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('Worker', Examiner);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('a check is ended by Cancel, and by itself where its worker says nothing', async () => {
  const { cancelCheck, check } = await import('../../src/page/environment/examine.ts');
  const { useEnvironment } = await import('../../src/page/environment/environmentStore.ts');
  const state = () => useEnvironment.getState().check;
  check();
  expect([state()?.state, made[0]?.asked.map(({ type }) => type)]).toEqual(['running', ['check']]);
  cancelCheck();
  expect([state(), made[0]?.terminated]).toEqual([null, true]);

  check();
  made[1]?.onmessage?.({ data: { type: 'progress', share: 0.25 } });
  await vi.advanceTimersByTimeAsync(9_000);
  expect(state()).toMatchObject({ state: 'running', progress: 0.25 });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(state()).toMatchObject({ state: 'ended', reason: expect.stringContaining('10 seconds') as string });
  expect(made[1]?.terminated).toBe(true);
});
