import { useState } from 'react';
import { HIDEABLE } from '../address/hash.ts';
import { withKernels } from '../address/sameKernels.ts';
import { useConfig } from '../knobs/configStore.ts';
import { useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { ChangedRun } from './ChangedRun.tsx';
import { CopyField } from './CopyField.tsx';
import { OwnEnvironment } from './OwnEnvironment.tsx';
import { linkedRun } from './linkedRun.ts';
import { shownSelection, pageAddress, sharedHash } from './sharedAddress.ts';

const WORDS: Readonly<Record<string, string>> = {
  controls: 'all controls',
  curves: 'curves',
  inspector: 'inspector',
  preset: 'preset menu',
  screens: 'other screens',
  masks: 'mask knobs',
  expert: 'expert mask knobs',
};

/** The link to what is seen, for others and for a class: what it leaves out is hidden from those who open it. */
export function ShareLink() {
  useConfig((s) => s.wanted);
  useLive((s) => s.update); // training goes on behind the dialog
  const linked = linkedRun();
  const named = withKernels(
    linked.begun,
    useLive((s) => s.backend?.kernels?.choice),
  );
  const [hidden, setHidden] = useState(() => useSelection.getState().hide.split(',').filter(Boolean));
  const [exact, setExact] = useState(false);
  const hide = HIDEABLE.filter((part) => hidden.includes(part)).join();
  const selected = { ...shownSelection(), hide };
  const hash = sharedHash(exact && named ? { ...linked, begun: named } : linked, selected);
  return (
    <>
      <p>
        {selected.recorded === null
          ? 'The link holds the knobs, the seed and your selection. Opening it and training gives the same run again, from update 0. The weights come out the same on the CPU backend, and on WebGPU with the same adapter and kernels.'
          : `The link opens update ${selected.recorded} of this recording, with the rollout and token you selected.`}
      </p>
      <OwnEnvironment />
      {selected.recorded === null && <ChangedRun linked={linked} />}
      {named && (
        <label className="share-kernels">
          <input type="checkbox" checked={exact} onChange={(event) => setExact(event.target.checked)} />
          <span>
            Fix the kernels of this run: <b>kernels={named.kernels}</b>. Otherwise faster ones may be used, and numbers
            may round differently.
          </span>
        </label>
      )}
      <CopyField key={hash} text={`${pageAddress()}${hash}`} label="Link" copy="Copy link" />
      <fieldset>
        <legend>For a class, hide</legend>
        {HIDEABLE.map((part) => (
          <label key={part}>
            <input
              type="checkbox"
              checked={hidden.includes(part)}
              onChange={({ target }) =>
                setHidden(target.checked ? [...hidden, part] : hidden.filter((each) => each !== part))
              }
            />
            {WORDS[part] ?? `${part} knobs`}
          </label>
        ))}
      </fieldset>
    </>
  );
}
