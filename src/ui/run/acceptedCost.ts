import { create } from 'zustand';
import type { Question } from '../../wire/questions.ts';
import { useLive } from './liveStore.ts';

type Kind = Question['kind'];

/** Kinds of answers about the run that is there which the reader wants whatever they take: what they cost was shown once. */
const useAccepted = create<{ readonly kinds: ReadonlySet<Kind> }>()(() => ({ kinds: new Set() }));

// what the answers of another run cost is not known yet
useLive.subscribe((now, before) => {
  if (now.run !== before.run) useAccepted.setState({ kinds: new Set() });
});

/** Whether the reader wants answers of a kind whatever they take. */
export function useCostAccepted(kind: Kind): boolean {
  return useAccepted((s) => s.kinds.has(kind));
}

/** From now on answers of a kind are wanted whatever they take. */
export function acceptCost(kind: Kind): void {
  useAccepted.setState((s) => ({ kinds: new Set([...s.kinds, kind]) }));
}
