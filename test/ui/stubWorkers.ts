import { vi } from 'vitest';
import type { RunCommand, RunEvent } from '../../src/wire/commands.ts';

/** Workers that only listen, in a browser without locks; `vi.unstubAllGlobals` takes them away. */
export function stubWorkers() {
  const asked: RunCommand[] = [];
  const made: Stub[] = [];
  class Stub extends EventTarget {
    onmessage: ((message: MessageEvent<RunEvent>) => void) | null = null;
    onerror: ((event: { readonly message: string; preventDefault: () => void }) => void) | null = null;
    onmessageerror: (() => void) | null = null;
    terminated = false;
    constructor() {
      super();
      made.push(this);
    }
    postMessage(command: RunCommand): void {
      if (command.type !== 'live') asked.push(command); // that one only asks whether it lives
    }
    terminate(): void {
      this.terminated = true;
    }
  }
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('Worker', Stub);
  /** The newest worker says something. */
  const say = (event: RunEvent) => {
    const message = new MessageEvent('message', { data: event });
    const worker = made.at(-1);
    worker?.onmessage?.(message);
    worker?.dispatchEvent(new MessageEvent('message', { data: event }));
  };
  return { asked, made, say };
}
