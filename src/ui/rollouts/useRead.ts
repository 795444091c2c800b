import { useEffect, useState } from 'react';
import type { ReadRollout } from '../../wire/readerMessages.ts';
import { areReadable, readRows, useRollouts } from './rolloutFileStore.ts';

/** Rollouts by their rows, read from the file when they are looked at; empty until they have come. */
export function useRead(rows: readonly number[]): readonly ReadRollout[] {
  const key = rows.join();
  const opened = useRollouts((s) => s.opened);
  const there = useRollouts((s) => areReadable(s, rows));
  const [read, setRead] = useState<{ readonly key: string; readonly rollouts: readonly ReadRollout[] } | null>(null);
  useEffect(() => {
    if (!there) return;
    let wanted = true;
    const asked = key === '' ? [] : key.split(',').map(Number);
    void readRows(asked).then((rollouts) => wanted && setRead({ key, rollouts }));
    return () => {
      wanted = false;
    };
  }, [key, opened, there]);
  // what was looked at before stays until the next has come
  return read?.rollouts ?? [];
}
