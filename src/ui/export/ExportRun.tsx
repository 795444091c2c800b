import { lazy, Suspense, useState } from 'react';
import type { Run } from '../../runs/run.ts';
import { exportRun } from '../../page/files/exportRun.ts';

// loaded on demand, because few runs train adapters for a checkpoint
const AdapterExport = lazy(() => import('./AdapterExport.tsx').then((m) => ({ default: m.AdapterExport })));

interface Props {
  readonly run: () => Run | null; // called when the button is pressed; null: the run is gone
  readonly label: string; // accessible name, which says which run
  readonly small?: boolean;
  readonly children: string;
}

/** Exports it with its weights and everything needed to continue. If the run trains adapters, asks first in which form. */
export function ExportRun({ run, label, small = false, children }: Props) {
  const [busy, setBusy] = useState(false);
  const [adapterRun, setAdapterRun] = useState<Run | null>(null);
  const press = () => {
    const current = run();
    if (!current) return;
    if (current.checkpoint?.base) {
      setAdapterRun(current);
      return;
    }
    setBusy(true);
    void exportRun(current).finally(() => setBusy(false));
  };
  return (
    <>
      <button
        type="button"
        className={small ? 'quiet small' : 'quiet'}
        aria-label={label}
        title="A zipped Hugging Face folder: opens in Transformers; drop it on this page to continue the run"
        disabled={busy}
        onClick={press}
      >
        {children}
      </button>
      <Suspense>
        {adapterRun?.checkpoint && (
          <AdapterExport run={adapterRun} checkpoint={adapterRun.checkpoint} close={() => setAdapterRun(null)} />
        )}
      </Suspense>
    </>
  );
}
