import { lazy, Suspense, useState } from 'react';
import { differences, presetConfig, useConfig } from './configStore.ts';

const ChangedList = lazy(() => import('./ChangedList.tsx').then((m) => ({ default: m.ChangedList })));

/** How many knobs differ from the preset; opens the list of them. Nothing where none does. */
export function ChangedKnobs() {
  const count = useConfig((s) => differences(s.wanted, presetConfig(s.preset)).length);
  const [open, setOpen] = useState(false);
  return (
    <>
      {count > 0 && (
        <button
          type="button"
          className="quiet small changed"
          aria-haspopup="dialog"
          title="What differs from the preset"
          onClick={() => setOpen(true)}
        >
          {count} changed
        </button>
      )}
      <Suspense>{open && <ChangedList close={() => setOpen(false)} />}</Suspense>
    </>
  );
}
