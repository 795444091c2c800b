import { useState } from 'react';
import type { Run } from '../../runs/run.ts';
import { exportRun } from './exportRun.ts';

interface Props {
  readonly run: () => Run | null; // as it is when the button is pressed; null: gone meanwhile
  readonly label: string; // that says which run
  readonly small?: boolean;
  readonly children: string;
}

/** A button that hands out a run with its weights and all it takes to go on. */
export function ExportRun({ run, label, small = false, children }: Props) {
  const [busy, setBusy] = useState(false);
  const press = () => {
    const now = run();
    if (!now) return;
    setBusy(true);
    void exportRun(now).finally(() => setBusy(false));
  };
  return (
    <button
      type="button"
      className={small ? 'quiet small' : 'quiet'}
      aria-label={label}
      title="A Hugging Face folder as a zip: opens in Transformers, and goes on here when it is dropped on the page"
      disabled={busy}
      onClick={press}
    >
      {children}
    </button>
  );
}
