import type { Answer, Question, RunCommand } from '../protocol.ts';

const waiting = new Map<number, (answer: Answer) => void>();
let last = 0;

/** Sends a question; the promise always ends, in an answer or in `refused`. */
export function pose(question: Question, send: (command: RunCommand) => void): Promise<Answer> {
  const id = ++last;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    send({ type: 'ask', id, question });
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
