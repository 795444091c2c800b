import { startTransition, useEffect, useState } from 'react';

/**
 * The value that each turn shows while the selection changes: the first turns show the new value, and each paint adds
 * one more turn. Drawing a thousand tokens at once would delay the page's answer to a key or click. Turns are numbered
 * by their position.
 */
export function useTurnByTurn<Shown>(picked: Shown, turns: number): (place: number) => Shown {
  const [shown, setShown] = useState<readonly Shown[]>([]);
  useEffect(() => {
    const next = Array.from({ length: turns }, (_, i) => i).find((i) => shown[i] !== picked);
    if (next === undefined) return;
    startTransition(() => {
      setShown(Array.from({ length: turns }, (_, i) => (i === next ? picked : (shown[i] ?? picked))));
    });
  }, [picked, shown, turns]);
  return (place) => shown[place] ?? picked;
}
