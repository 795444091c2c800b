import { vi } from 'vitest';
import type { RunCommand, RunEvent } from '../../src/wire/commands.ts';

/**
 * The training worker itself, on this thread, in place of all workers that the page starts: they share its one run. Returns the
 * checksum of the weights that it has at the time. `vi.unstubAllGlobals` takes away all but
 * `postMessage`.
 */
export async function workerHere(): Promise<() => Promise<string>> {
  let handler: (message: MessageEvent<RunCommand>) => void = () => undefined;
  const alive: Here[] = [];
  const asks = new Map<number, (checksum: string) => void>();
  const command = (data: RunCommand) => handler(new MessageEvent('message', { data: structuredClone(data) }));
  class Here extends EventTarget {
    onmessage: ((message: MessageEvent<RunEvent>) => void) | null = null;
    constructor() {
      super();
      alive.push(this);
    }
    postMessage(data: RunCommand): void {
      if (data.type !== 'live') queueMicrotask(() => command(data)); // no locks here
    }
    terminate(): void {
      alive.splice(alive.indexOf(this), 1);
    }
  }
  // never put back: the worker says every second that it is alive, to the end of this process
  globalThis.postMessage = (event: RunEvent) => {
    if (event.type === 'answer' && event.answer.kind === 'checksum') asks.get(event.id)?.(event.answer.checksum);
    const data = structuredClone(event);
    setTimeout(() => {
      for (const worker of alive.slice(-1)) {
        worker.onmessage?.(new MessageEvent('message', { data }));
        worker.dispatchEvent(new MessageEvent('message', { data }));
      }
    });
  };
  vi.stubGlobal('addEventListener', (type: string, given: typeof handler) => {
    if (type === 'message') handler = given;
  });
  vi.stubGlobal('navigator', { userAgent: 'here' });
  await import('../../src/worker.ts');
  vi.stubGlobal('Worker', Here);
  return () =>
    new Promise((resolve) => {
      const id = -1 - asks.size; // the page counts from 1
      asks.set(id, resolve);
      command({ type: 'ask', id, question: { kind: 'checksum' } });
    });
}
