import { useMemo } from 'react';
import { short } from '../parts/numberText.ts';
import { groupStats } from '../rollout/readRollout.ts';
import { RecordHead } from './RecordView.tsx';
import { Segments } from './Segments.tsx';
import { table, useRollouts } from './rolloutFileStore.ts';
import { useRead } from './useRead.ts';

const MOST = 16; // side by side

/** The rollouts of one group beside one another, the best first. */
export function GroupLook({ row }: { readonly row: number }) {
  const version = useRollouts((s) => s.version);
  const rows = useMemo(() => (version < 0 ? [] : groupOf(row)), [row, version]);
  const read = useRead(rows.slice(0, MOST));
  const rewards = rows.map((each) => table.columns.reward[each] ?? NaN).filter((reward) => !Number.isNaN(reward));
  const { mean, std } = groupStats(rewards);
  if (rows.length < 2) {
    return <p className="empty">No other rollout of this group is open, or the file has no groups.</p>;
  }
  return (
    <>
      <p className="soft">
        {rows.length} rollouts of one group{rows.length > MOST ? `, the first ${MOST} of them shown` : ''}: rewards{' '}
        {short(mean)} ± {short(std)}
        {std === 0 && rewards.length > 1 && '; all equal, so this group teaches nothing'}.
      </p>
      <div className="beside" data-testid="group-look" role="region" aria-label="Its group, side by side" tabIndex={0}>
        {read.map((each) =>
          'record' in each ? (
            <article key={each.row} className="panel record" data-chosen={each.row === row}>
              <RecordHead record={each.record} row={each.row} brief />
              <Segments record={each.record} channel={null} short />
            </article>
          ) : null,
        )}
      </div>
    </>
  );
}

function groupOf(row: number): number[] {
  const { group, reward } = table.columns;
  const own = group[row] ?? -1;
  if (own < 0) return [row];
  const rows: number[] = [];
  for (let each = 0; each < table.rows; each++) if (group[each] === own) rows.push(each);
  const paid = (each: number) => (Number.isNaN(reward[each] ?? NaN) ? -Infinity : reward[each]!);
  return rows.sort((a, b) => paid(b) - paid(a) || a - b);
}
