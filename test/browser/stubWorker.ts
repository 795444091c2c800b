import type { RunCommand, RunEvent } from '../../src/wire/commands.ts';

/** A worker that only listens: what the page asked of it, and a mouth to answer with. */
export interface StubWorker {
  readonly asked: RunCommand[];
  readonly say: (event: RunEvent) => void;
  readonly fail: (message: string) => void; // throws
}

/** Puts a stub in place of every worker the page starts from now on. */
export function stubWorker(): StubWorker {
  const asked: RunCommand[] = [];
  const started: Stub[] = [];
  class Stub extends EventTarget {
    onmessage: ((message: MessageEvent<RunEvent>) => void) | null = null;
    onerror: ((event: { readonly message: string; preventDefault: () => void }) => void) | null = null;
    constructor() {
      super();
      started.push(this);
    }
    postMessage(command: RunCommand): void {
      if (command.type !== 'live') asked.push(command); // that one only asks whether it lives
    }
    terminate(): void {
      // nothing runs
    }
  }
  Object.assign(globalThis, { Worker: Stub });
  return {
    asked,
    say: (event) => started.at(-1)?.onmessage?.(new MessageEvent('message', { data: event })),
    fail: (message) => started.at(-1)?.onerror?.({ message, preventDefault: () => undefined }),
  };
}
