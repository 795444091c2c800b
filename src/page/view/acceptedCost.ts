import { create } from 'zustand';
import type { Question } from '../../wire/questions.ts';
import { useLive } from './liveStore.ts';

type Kind = Question['kind'];

/** Kinds of answers about the current run that are computed at any cost, because the reader saw the cost and accepted it. */
const useAccepted = create<{ readonly kinds: ReadonlySet<Kind> }>()(() => ({ kinds: new Set() }));

// a new run begins with nothing accepted, because its answers may cost more
useLive.subscribe((state, before) => {
  if (state.run !== before.run) useAccepted.setState({ kinds: new Set() });
});

export function useCostAccepted(kind: Kind): boolean {
  return useAccepted((s) => s.kinds.has(kind));
}

/** Accepts the cost of all further answers of a kind, until another run begins. */
export function acceptCost(kind: Kind): void {
  useAccepted.setState((s) => ({ kinds: new Set([...s.kinds, kind]) }));
}
