import { useMemo } from 'react';
import { listed } from '../../rollouts/select.ts';
import { table, useRollouts } from './store.ts';

/** The rows that are listed, in order; worked out once for each change of what is listed. */
export function useListed(): Int32Array {
  const version = useRollouts((s) => s.version);
  const filter = useRollouts((s) => s.filter);
  const hits = useRollouts((s) => s.hits);
  const order = useRollouts((s) => s.order);
  return useMemo(
    // the version names the table, which grows in place
    () => (version < 0 ? new Int32Array() : listed(table.columns, table.rows, filter, hits, order)),
    [version, filter, hits, order],
  );
}
