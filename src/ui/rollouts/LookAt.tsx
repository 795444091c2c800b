import type { MeansByStep } from '../../rollouts/select.ts';
import { GroupLook } from './GroupLook.tsx';
import { RecordView } from './RecordView.tsx';
import { StepsLook } from './StepsLook.tsx';
import { type Look, useRollouts } from './rolloutFileStore.ts';
import { useRead } from './useRead.ts';

const LOOKS: Readonly<Record<Look, string>> = { rollout: 'One rollout', group: 'Its group', steps: 'Two steps' };

interface Props {
  readonly list: Int32Array;
  readonly means: MeansByStep; // of that list
}

/** The chosen rollout, its group, or two steps. */
export function LookAt({ list, means }: Props) {
  const look = useRollouts((s) => s.look);
  const row = useRollouts((s) => s.row);
  const reading = useRollouts((s) => s.reading !== null);
  return (
    <>
      <div className="segments looks" role="group" aria-label="Look at">
        {Object.entries(LOOKS).map(([name, label]) => (
          <button
            key={name}
            type="button"
            aria-pressed={look === name}
            onClick={() => useRollouts.setState({ look: name as Look })}
          >
            {label}
          </button>
        ))}
      </div>
      {look === 'steps' ? (
        <StepsLook list={list} steps={means.steps} />
      ) : row === null ? (
        <p className="empty">{reading ? 'Reading…' : 'These files hold no rollouts.'}</p>
      ) : look === 'group' ? (
        <GroupLook row={row} />
      ) : (
        <One row={row} />
      )}
    </>
  );
}

function One({ row }: { readonly row: number }) {
  const [read] = useRead([row]);
  return read ? <RecordView read={read} /> : <p className="empty">Reading…</p>;
}
