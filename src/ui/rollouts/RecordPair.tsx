import { useMemo } from 'react';
import { table, useRollouts } from '../../page/files/rolloutFileStore.ts';
import { useReadRollouts } from '../../page/files/useRead.ts';
import { comparedRecord } from '../../page/rollout/parting.ts';
import { NumberInput } from '../parts/NumberInput.tsx';
import { NoWeights, PartingView } from '../tokens/PartingView.tsx';

interface Props {
  readonly row: number;
  readonly next: number; // the row that it's compared with until another is chosen
}

const BOTH = ['A', 'B'];

/** Two rollouts of the opened files, and the choice of the second. */
export function RecordPair({ row, next }: Props) {
  const other = useRollouts((s) => s.beside) ?? next;
  const rows = useRollouts((s) => s.version) > 0 ? table.rows : 0;
  const wanted = useMemo(() => [row, other].filter((each) => each < rows), [row, other, rows]);
  const read = useReadRollouts(wanted);
  const [a, b] = useMemo(
    () =>
      [row, other].map((each) => {
        const found = read.find((one) => one.row === each);
        return found && 'record' in found ? comparedRecord(`rollout ${each}`, found.record) : null;
      }),
    [read, row, other],
  );
  return (
    <>
      <div className="row">
        <NumberInput
          label={`Compare rollout ${row} with rollout`}
          value={other}
          min={0}
          max={rows - 1}
          onChange={(beside) => useRollouts.setState({ beside })}
        />
      </div>
      {a && b ? (
        <PartingView {...{ a, b }}>{() => <NoWeights sides={BOTH} />}</PartingView>
      ) : (
        <p className="empty">{other < rows ? 'Reading…' : `Rollout ${other} isn’t in these files.`}</p>
      )}
    </>
  );
}
