import { lazy, Suspense, useState } from 'react';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { useLive } from '../run/liveStore.ts';
import { differences, presetConfig, useConfig } from './configStore.ts';
import { presetLabel, presetTitle } from './presetTitle.ts';

const ChangedList = lazy(() => import('./ChangedList.tsx').then((m) => ({ default: m.ChangedList })));

/** What is trained: the preset's task and the algorithm that the knobs make up, or the person's own environment. */
export function Trained() {
  const own = useLive((s) => s.ownEnvironment);
  return useConfig((s) =>
    s.preset === YOUR_ENVIRONMENT ? presetLabel(s.preset, own) : presetTitle(s.preset, s.wanted).label,
  );
}

/** How many knobs differ from the preset, with `origin` from which algorithm; opens the list of them. Nothing where none does. */
export function ChangedKnobs({ origin = false }: { readonly origin?: boolean }) {
  const count = useConfig((s) => differences(s.wanted, presetConfig(s.preset)).length);
  const from = useConfig((s) => presetTitle(s.preset, s.wanted).from);
  const [open, setOpen] = useState(false);
  return (
    <>
      {count > 0 && (
        <button
          type="button"
          className="quiet small changed"
          aria-haspopup="dialog"
          title="The knobs that differ from the preset"
          onClick={() => setOpen(true)}
        >
          {origin && from !== null && <span className="changed-from">from {from}, </span>}
          <span>
            {count} <span className="changed-word">changed</span>
          </span>
        </button>
      )}
      <Suspense>{open && <ChangedList close={() => setOpen(false)} />}</Suspense>
    </>
  );
}
