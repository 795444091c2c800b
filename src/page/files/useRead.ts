import { useEffect, useState } from 'react';
import type { ReadRollout } from '../../wire/readerMessages.ts';
import { areReadable, readRows, useRollouts } from './rolloutFileStore.ts';

/** Reads them on demand. Empty until the first are read; while other rows are read, the rollouts read before stay. */
export function useReadRollouts(rows: readonly number[]): readonly ReadRollout[] {
  const key = rows.join();
  const openingId = useRollouts((s) => s.openingId);
  const readable = useRollouts((s) => areReadable(s, rows));
  const [read, setRead] = useState<{ readonly key: string; readonly rollouts: readonly ReadRollout[] } | null>(null);
  useEffect(() => {
    if (!readable) return;
    let mounted = true;
    const requested = key === '' ? [] : key.split(',').map(Number);
    void readRows(requested).then((rollouts) => mounted && setRead({ key, rollouts }));
    return () => {
      mounted = false;
    };
  }, [key, openingId, readable]);
  // the previous rollouts stay in view until the next ones are read
  return read?.rollouts ?? [];
}
