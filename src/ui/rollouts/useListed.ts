import { useMemo } from 'react';
import { listed, ordered } from '../../rollouts/select.ts';
import { table, useRollouts } from './rolloutFileStore.ts';

/** The rows that are listed, in order; worked out once for each change of what is listed. */
export function useListed(): Int32Array {
  const version = useRollouts((s) => s.version);
  const filter = useRollouts((s) => s.filter);
  const hits = useRollouts((s) => s.hits);
  const order = useRollouts((s) => s.order);
  // the version names the table, which grows in place
  const all = useMemo(
    () => (version < 0 ? new Int32Array() : ordered(table.columns, table.rows, order)),
    [version, order],
  );
  return useMemo(() => listed(all, table.columns, filter, hits), [all, filter, hits]);
}
