import type { RunCommand } from '../../wire/commands.ts';
import type { Answer } from '../../wire/questions.ts';

const waiting = new Map<number, (answer: Answer) => void>();
let last = 0;

/** Sends what `command` asks; the promise always ends, in an answer or in `refused`. */
export function pose(command: (id: number) => RunCommand, send: (command: RunCommand) => void): Promise<Answer> {
  const id = ++last;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    send(command(id));
  });
}

/** Gives the answer to who asked. */
export function settle(id: number, answer: Answer): void {
  waiting.get(id)?.(answer);
  waiting.delete(id);
}

/** Ends all questions that nobody will answer any more. */
export function refuseAll(message: string): void {
  for (const id of [...waiting.keys()]) settle(id, { kind: 'refused', message });
}
