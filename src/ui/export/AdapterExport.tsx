import { useEffect, useState } from 'react';
import { MERGED_TYPES, type MergedType } from '../../domain/mergedTypes.ts';
import { type Checkpoint, checkpointBytes } from '../../runs/checkpoint.ts';
import { packedRun } from '../../runs/packed.ts';
import type { Run } from '../../runs/run.ts';
import type { Answer } from '../../wire/questions.ts';
import { download } from '../../page/browser/fileDownload.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { bytes } from '../../page/words/numberText.ts';
import { convert, nextModel } from '../../page/training/engine.ts';
import { exportRun } from '../../page/files/exportRun.ts';

interface Props {
  readonly run: Run;
  readonly checkpoint: Checkpoint; // of the run
  readonly close: () => void;
}

export function AdapterExport({ run, checkpoint, close }: Props) {
  const [busy, setBusy] = useState(false);
  const tensors = [...checkpoint.networks.policy.weights.values()];
  const adapterBytes = tensors.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return (
    <Dialog title={`Export run ${run.id || ''}`} className="help import" onClose={close}>
      <section className="stack" aria-label="Adapter">
        <h3>The adapter</h3>
        <p className="small soft">
          A zipped folder for <code translate="no">peft.PeftModel.from_pretrained</code> on top of{' '}
          {checkpoint.base?.name}, with optimizer moments and curves. Drop it on this page to continue the run bit for
          bit.
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
          Adapter with everything to continue, {bytes(adapterBytes + checkpointBytes(checkpoint))} (the adapter alone:{' '}
          {bytes(adapterBytes)})
        </button>
      </section>
      <section className="stack" aria-label="Merged model">
        <h3>Merged model</h3>
        <p className="small soft">
          The checkpoint with the adapter merged into its weights: for llama.cpp if it was a GGUF file, for Transformers
          if it was a folder.
        </p>
        {nextModel() ? (
          <div className="row">
            {MERGED_TYPES.map((type) => (
              <MergedButton key={type} {...{ run, checkpoint, type }} />
            ))}
          </div>
        ) : (
          <p className="note small">Merging needs {checkpoint.base?.name}. Drop it on the lab first.</p>
        )}
      </section>
    </Dialog>
  );
}

function MergedButton({ run, checkpoint, type }: Omit<Props, 'close'> & { readonly type: MergedType }) {
  const [sizeAnswer, setSizeAnswer] = useState<Answer | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    let isMounted = true;
    void merge(run, checkpoint, type, false).then((answer) => isMounted && setSizeAnswer(answer));
    return () => {
      isMounted = false;
    };
  }, [run, checkpoint, type]);
  if (sizeAnswer?.kind === 'refused') {
    return (
      <p className="note bad small" role="alert">
        {sizeAnswer.message}
      </p>
    );
  }
  const size = sizeAnswer?.kind === 'merged' ? bytes(sizeAnswer.bytes) : '…';
  const write = () => {
    setBusy(true);
    void merge(run, checkpoint, type, true)
      .then((answer) => {
        if (answer.kind === 'merged' && answer.file) download(answer.name, answer.file.type, answer.file);
        else setSizeAnswer(answer);
      })
      .finally(() => setBusy(false));
  };
  return (
    <button type="button" disabled={busy || sizeAnswer === null} onClick={write}>
      {busy ? 'Merging …' : `${type === 'F16' ? 'Half' : 'Single'} precision (${type}), ${size}`}
    </button>
  );
}

function merge(run: Run, checkpoint: Checkpoint, type: MergedType, write: boolean): Promise<Answer> {
  const base = nextModel();
  if (!base) return Promise.resolve({ kind: 'refused', message: 'The checkpoint is not open on this page.' });
  return convert({ kind: 'merge', run: packedRun({ ...run, checkpoint }), base, type, write });
}
