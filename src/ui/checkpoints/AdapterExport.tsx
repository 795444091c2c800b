import { useEffect, useState } from 'react';
import { MERGED_TYPES, type MergedType } from '../../domain/mergedTypes.ts';
import { checkpointBytes } from '../../runs/checkpoint.ts';
import { packedRun } from '../../runs/packed.ts';
import type { Run } from '../../runs/run.ts';
import { download } from '../export/download.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { bytes } from '../parts/format.ts';
import { convert, givenModel } from '../run/engine.ts';
import { exportRun } from './exportRun.ts';

interface Props {
  readonly run: Run & { readonly checkpoint: NonNullable<Run['checkpoint']> };
  readonly close: () => void;
}

/** How a run beside a checkpoint can be taken away: its adapter alone, or one model of both; each with its size. */
export function AdapterExport({ run, close }: Props) {
  const { checkpoint } = run;
  const [busy, setBusy] = useState(false);
  const tensors = [...checkpoint.networks.policy.weights.values()];
  const adapter = tensors.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return (
    <Dialog title={`Take run ${run.id || ''} away`} className="help import" onClose={close}>
      <section className="stack" aria-label="Adapter">
        <h3>The adapter</h3>
        <p className="small soft">
          A folder as a zip that <code>peft.PeftModel.from_pretrained</code> opens beside {checkpoint.base?.name}, with
          its moments and curves: dropped on this page the run goes on bit for bit.
        </p>
        <button
          type="button"
          className="primary"
          disabled={busy}
          onClick={() => {
            setBusy(true);
            void exportRun(run).finally(() => setBusy(false));
          }}
        >
          Adapter, {bytes(adapter)}; with all it takes to go on {bytes(adapter + checkpointBytes(checkpoint))}
        </button>
      </section>
      <section className="stack" aria-label="One model of both">
        <h3>One model of both</h3>
        <p className="small soft">
          The checkpoint with the adapter merged into its weights: a GGUF file of a GGUF file, for llama.cpp, or a
          folder of a folder, for Transformers.
        </p>
        {givenModel() ? (
          <div className="row">
            {MERGED_TYPES.map((type) => (
              <Merged key={type} {...{ run, type }} />
            ))}
          </div>
        ) : (
          <p className="note small">
            It is made from {checkpoint.base?.name}, which is not open on this page: drop it on the lab first.
          </p>
        )}
      </section>
    </Dialog>
  );
}

/** A button that makes it with matrices in one type, and says how large it is. */
function Merged({ run, type }: Omit<Props, 'close'> & { readonly type: MergedType }) {
  const [size, setSize] = useState<number | null>(null);
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const merge = async (write: boolean) => {
    const base = givenModel();
    if (!base) return;
    const answer = await convert({ kind: 'merge', run: packedRun(run), base, type, write });
    if (answer.kind !== 'merged') {
      setProblem(answer.kind === 'refused' ? answer.message : answer.kind);
      return;
    }
    setSize(answer.bytes);
    if (answer.file) download(answer.name, 'application/octet-stream', answer.file);
  };
  useEffect(() => {
    void merge(false);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- weighed once, when it is shown
  }, []);
  if (problem !== '') {
    return (
      <p className="note bad small" role="alert">
        {problem}
      </p>
    );
  }
  return (
    <button
      type="button"
      disabled={busy || size === null}
      onClick={() => {
        setBusy(true);
        void merge(true).finally(() => setBusy(false));
      }}
    >
      {busy
        ? 'Merging …'
        : `${type === 'F16' ? 'Half' : 'Single'} precision (${type}), ${size === null ? '…' : bytes(size)}`}
    </button>
  );
}
