import { lazy, Suspense, useState } from 'react';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { changedFromPreset, useConfig } from '../../page/knobs/configStore.ts';
import { presetLabel, presetTitle } from '../../page/knobs/algorithm.ts';

const ChangedList = lazy(() => import('./ChangedList.tsx').then((m) => ({ default: m.ChangedList })));

/** Names what is trained: the preset's task with the algorithm that the knobs make up, or the person's own environment. */
export function TrainedTitle() {
  const ownName = useLive((s) => s.ownEnvironment);
  return useConfig((s) =>
    s.preset === YOUR_ENVIRONMENT ? presetLabel(s.preset, ownName) : presetTitle(s.preset, s.wanted).label,
  );
}

/** With `origin`, also shows the preset's algorithm. Renders nothing if no knob differs from the preset. */
export function ChangedKnobs({ origin = false }: { readonly origin?: boolean }) {
  const count = useConfig((s) => changedFromPreset(s.preset, s.wanted).length);
  const presetAlgorithm = useConfig((s) => presetTitle(s.preset, s.wanted).presetAlgorithm);
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
          {origin && presetAlgorithm !== null && <span className="changed-from">from {presetAlgorithm}, </span>}
          <span>
            {count} <span className="changed-word">changed</span>
          </span>
        </button>
      )}
      <Suspense>{open && <ChangedList close={() => setOpen(false)} />}</Suspense>
    </>
  );
}
