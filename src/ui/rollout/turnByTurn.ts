import { startTransition, useEffect, useState } from 'react';

/**
 * What each turn shows while something else comes to be picked: the first turns have it already, and one more has with each
 * paint. A thousand tokens drawn again at once would hold up what is pressed meanwhile. Turns are named by their place.
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
