import { useEffect, useState } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { Moved } from './channels.ts';

/** What an update did to the tokens of a row, asked of the run while `wanted`; null until it is known, or where it is not kept. */
export function useTokenChanges(
  batch: BatchView,
  row: number,
  config: RunConfig | null,
  wanted: boolean,
): Moved | null {
  const [got, setGot] = useState<{ readonly batch: BatchView; readonly row: number; readonly moved: Moved | null }>();
  useEffect(() => {
    if (!wanted || !config) return;
    let gone = false;
    void import('../run/inspect.ts')
      .then((m) => m.movedTokens({ batch, row, config }))
      .then((moved) => {
        if (!gone) setGot({ batch, row, moved });
      });
    return () => {
      gone = true;
    };
  }, [batch, row, config, wanted]);
  return got?.batch === batch && got.row === row ? got.moved : null;
}
