import { useRef, useState } from 'react';
import { selectedOf } from '../address/address.ts';
import { useConfig } from '../knobs/configStore.ts';
import { HIDEABLE, hashOf, type Selected } from '../address/hash.ts';
import { live, useLive } from '../run/liveStore.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { currentRoute } from '../address/route.ts';
import { withKernels } from '../address/sameKernels.ts';
import { useSelection } from '../shell/selectionStore.ts';
import '../styles/share.css';

const WORDS: Readonly<Record<string, string>> = {
  controls: 'all controls',
  curves: 'curves',
  inspector: 'inspector',
  preset: 'preset menu',
  screens: 'other screens',
};

/** The link to what is seen, for others and for a class: what it leaves out is hidden from those who open it. */
export function ShareDialog() {
  const config = useConfig((s) => s.wanted);
  const named = withKernels(
    config,
    useLive((s) => s.backend?.kernels?.choice),
  );
  const [hidden, setHidden] = useState(() => useSelection.getState().hide.split(',').filter(Boolean));
  const [exact, setExact] = useState(false);
  const hide = HIDEABLE.filter((part) => hidden.includes(part)).join();
  const selected = { ...lookedAt(), hide };
  const hash = hashOf(exact && named ? named : config, currentRoute(), selected);
  if (currentRoute() === 'experiments') return <ShareExperiment />;
  return (
    <Dialog title="Share" className="help share" onClose={close}>
      <p>
        The link holds every knob, the seed and what is chosen. On the CPU backend it trains to the same weights
        anywhere; on WebGPU, on the same adapter with the same kernels.
      </p>
      {named && (
        <label className="share-kernels">
          <input type="checkbox" checked={exact} onChange={(event) => setExact(event.target.checked)} />
          <span>
            Name this run’s: <b>kernels={named.kernels}</b>. With auto, faster ones take over once measured.
          </span>
        </label>
      )}
      <Link key={hash} address={`${location.origin}${location.pathname}${hash}`} />
      <fieldset>
        <legend>For a class, leave out</legend>
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
    </Dialog>
  );
}

/** What is looked at. A rollout or token of a run is of the update in view, whether that is held or not. */
function lookedAt(): Selected {
  const selected = selectedOf(useSelection.getState());
  const { row, turn, token } = selected;
  const chosen = row !== 0 || turn !== null || token !== null;
  const held = chosen && !live.isExample && live.batch.rows > 0 ? live.batch.update : null;
  return { ...selected, held: selected.held ?? held };
}

/** An experiment has no knobs of its own: its address, which follows the form, is the link. */
function ShareExperiment() {
  return (
    <Dialog title="Share" className="help share" onClose={close}>
      <p>The link holds the experiment with its seeds, arms and backend, no results.</p>
      <Link address={location.href} />
    </Dialog>
  );
}

const close = () => useSelection.setState({ sharing: false });

/** The address, to copy; says whether that went well. */
function Link({ address }: { readonly address: string }) {
  const link = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState('');
  const copy = async () => {
    link.current?.select();
    try {
      await navigator.clipboard.writeText(address);
      setSaid('Copied.');
    } catch {
      // a page on plain http has no clipboard
      setSaid('The browser refuses the clipboard: the link is selected, press Ctrl C.');
    }
  };
  return (
    <>
      <div className="row share-link">
        <input ref={link} type="text" readOnly value={address} aria-label="Link" />
        <button type="button" className="primary" onClick={() => void copy()}>
          Copy link
        </button>
      </div>
      <p className="faint" role="status">
        {said}
      </p>
    </>
  );
}
