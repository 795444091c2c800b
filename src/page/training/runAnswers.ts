import { useEffect, useRef, useState } from 'react';
import type { Answer, Question } from '../../wire/questions.ts';
import { reply, type Reply } from './inspect.ts';
import { useLive } from '../view/liveStore.ts';
import { question } from './transport.ts';

type Kind = Question['kind'] & Answer['kind'];

export interface Answered<S, K extends Kind> {
  readonly subject: S;
  readonly reply: Reply<K>;
}

/**
 * Asks the run about `subject` each time that is a different object, and asks nothing while it is null. It asks one
 * question at a time: while an answer is awaited, only the newest subject is kept for the next question. Returns the
 * last answer, which may be about an earlier subject; undefined before the first answer. `ask` must be the same
 * function in every render.
 */
export function useAnswer<S extends object, K extends Kind>(
  kind: K,
  subject: S | null,
  ask: (subject: S) => Question,
): Answered<S, K> | undefined {
  const [received, setReceived] = useState<Answered<S, K>>();
  const newest = useRef(subject);
  const busy = useRef(false);
  useEffect(() => {
    newest.current = subject;
    if (busy.current || !subject) return;
    busy.current = true;
    const answer = async (about: S): Promise<void> => {
      setReceived({ subject: about, reply: reply(await question(ask(about)), kind) });
      const next = newest.current;
      if (next && next !== about) await answer(next);
    };
    void answer(subject).finally(() => {
      busy.current = false;
    });
  }, [subject, kind, ask]);
  return received;
}

/** Whether the run has finished the update that learned from a batch. Its weights are kept only then. Always true for a recording. */
export function useUpdateFinished(update: number): boolean {
  return useLive((s) => (s.session === 'ready' && s.update >= update) || (s.session === 'none' && s.isExample));
}
