import { lazy, Suspense, useState } from 'react';
import type { Run } from '../../runs/run.ts';
import { exportRun } from './exportRun.ts';

// few runs lie beside a checkpoint
const AdapterExport = lazy(() => import('./AdapterExport.tsx').then((m) => ({ default: m.AdapterExport })));

interface Props {
  readonly run: () => Run | null; // as it is when the button is pressed; null: gone meanwhile
  readonly label: string; // that says which run
  readonly small?: boolean;
  readonly children: string;
}

/** A button that hands out a run with its weights and all it takes to go on; of a run beside a checkpoint it asks first in which form. */
export function ExportRun({ run, label, small = false, children }: Props) {
  const [busy, setBusy] = useState(false);
  const [beside, setBeside] = useState<Run | null>(null);
  const press = () => {
    const now = run();
    if (!now) return;
    if (now.checkpoint?.base) {
      setBeside(now);
      return;
    }
    setBusy(true);
    void exportRun(now).finally(() => setBusy(false));
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
        {beside?.checkpoint && (
          <AdapterExport run={beside} checkpoint={beside.checkpoint} close={() => setBeside(null)} />
        )}
      </Suspense>
    </>
  );
}
