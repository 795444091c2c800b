import { useEffect, useState } from 'react';
import type { ReadRollout } from '../../wire/reading.ts';
import { readRows, useRollouts } from './store.ts';

/** Rollouts by their rows, read from the file when they are looked at; empty until they have come. */
export function useRead(rows: readonly number[]): readonly ReadRollout[] {
  const key = rows.join();
  const pattern = useRollouts((s) => s.pattern);
  const [read, setRead] = useState<{ readonly key: string; readonly rollouts: readonly ReadRollout[] } | null>(null);
  useEffect(() => {
    let wanted = true;
    const asked = key === '' ? [] : key.split(',').map(Number);
    void readRows(asked).then((rollouts) => wanted && setRead({ key, rollouts }));
    return () => {
      wanted = false;
    };
  }, [key, pattern]);
  // what was looked at before stays until the next has come
  return read?.rollouts ?? [];
}
