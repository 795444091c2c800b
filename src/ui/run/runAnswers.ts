import { useEffect, useRef, useState } from 'react';
import type { Answer, Question } from '../../wire/questions.ts';
import { reply, type Reply } from './inspect.ts';
import { live, useLive } from './liveStore.ts';
import { question } from './transport.ts';

type Kind = Question['kind'] & Answer['kind'];

/** What was answered, and about what. */
export interface Answered<S, K extends Kind> {
  readonly subject: S;
  readonly reply: Reply<K>;
}

/**
 * Asks the run about a subject whenever that is another object; nothing while it is null. One question at a time: a subject that
 * comes meanwhile waits, and the newest takes the place of those that waited. Returns the last answer, be it of the subject
 * before; undefined before the first. `ask` must be the same function every time.
 */
export function useAnswer<S extends object, K extends Kind>(
  kind: K,
  subject: S | null,
  ask: (subject: S) => Question,
): Answered<S, K> | undefined {
  const [got, setGot] = useState<Answered<S, K>>();
  const newest = useRef(subject);
  const busy = useRef(false);
  useEffect(() => {
    newest.current = subject;
    if (busy.current || !subject) return;
    busy.current = true;
    const answer = async (about: S): Promise<void> => {
      setGot({ subject: about, reply: reply(await question(ask(about)), kind) });
      const next = newest.current;
      if (next && next !== about) await answer(next);
    };
    void answer(subject).finally(() => {
      busy.current = false;
    });
  }, [subject, kind, ask]);
  return got;
}

/** Whether the run is through with the update that learned from a batch: before, its weights are not kept yet. A recording always is. */
export function useLearned(update: number): boolean {
  useLive((s) => s.batchVersion);
  return useLive((s) => (s.session === 'ready' && s.update >= update) || (s.session === 'none' && live.isExample));
}
