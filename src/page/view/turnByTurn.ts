import { startTransition, useEffect, useState } from 'react';

/**
 * The value that each turn shows while the selection changes: the first turns show the new value, and each paint adds
 * one more turn. Rendering a thousand tokens at once would delay the page's reaction to a key or click. A turn's index
 * is its position in the view.
 */
export function useTurnByTurn<Shown>(target: Shown, turns: number): (turnIndex: number) => Shown {
  const [shown, setShown] = useState<readonly Shown[]>([]);
  useEffect(() => {
    const nextTurn = Array.from({ length: turns }, (_, i) => i).find((i) => shown[i] !== target);
    if (nextTurn === undefined) return;
    startTransition(() => {
      setShown(Array.from({ length: turns }, (_, i) => (i === nextTurn ? target : (shown[i] ?? target))));
    });
  }, [target, shown, turns]);
  return (turnIndex) => shown[turnIndex] ?? target;
}
