import { useEffect, useState } from 'react';
import { presetNamed } from '../../config/presets.ts';
import { useConfig } from '../knobs/configStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { useLive } from '../run/liveStore.ts';
import { pause, run } from '../run/transport.ts';
import type { Panel } from './panels.ts';

/** Whether the bar trains: the other panels have buttons of their own. */
const HAS_RUN: Readonly<Record<Panel, boolean>> = { stage: false, rollout: true, curve: true, exercise: false };

/** What the panel is of, its button, and the link to the whole page. */
export function EmbedBar({ panel }: { readonly panel: Panel }) {
  const preset = useConfig((s) => s.preset);
  const running = useLive((s) => s.running);
  const update = useLive((s) => (s.session === 'none' ? null : s.update));
  return (
    <header className="row embed-bar">
      <b className="cut">{panel === 'exercise' ? 'Rollout Playground' : presetNamed(preset).label}</b>
      {update !== null && <span className="faint">update {update}</span>}
      {HAS_RUN[panel] && (
        <button type="button" className="small run" onClick={() => (running ? pause() : run())}>
          <Icon name={running ? 'pause' : 'play'} /> {running ? 'Pause' : 'Train it here'}
        </button>
      )}
      <WholePage />
    </header>
  );
}

/** Leads out of the frame, to the page at the same place. */
function WholePage() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return (
    <a
      className="end"
      href={`${location.pathname}${hash}`}
      target="_blank"
      rel="noopener"
      onPointerDown={() => setHash(location.hash)}
      onFocus={() => setHash(location.hash)}
    >
      Open the whole page
    </a>
  );
}
