import { lazy, Suspense, useEffect, useState } from 'react';
import { EnvPanel } from '../run/EnvPanel.tsx';
import { RolloutPanel } from '../run/RolloutPanel.tsx';
import { RecordedUpdates } from '../frame/RecordedUpdates.tsx';
import { useLive } from '../../page/view/liveStore.ts';
import { AddressNotes } from '../frame/AddressNotes.tsx';
import { useAwaitedUpdate } from '../../page/view/linkTargets.ts';
import { Boundary } from '../parts/Boundary.tsx';
import { type EmbedPanel, EMBED_PANELS } from '../../page/address/screens.ts';
import { presetNamed } from '../../config/presets.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { pause, run } from '../../page/training/transport.ts';
import './embed.css';

const EmbeddedStage = lazy(() => import('./EmbeddedStage.tsx').then((m) => ({ default: m.EmbeddedStage })));
const EmbeddedCurve = lazy(() => import('./EmbeddedCurve.tsx').then((m) => ({ default: m.EmbeddedCurve })));
const EmbeddedAnswer = lazy(() => import('./EmbeddedAnswer.tsx').then((m) => ({ default: m.EmbeddedAnswer })));
const EmbeddedExercise = lazy(() => import('./EmbeddedExercise.tsx').then((m) => ({ default: m.EmbeddedExercise })));

export function Embed({ panel }: { readonly panel: EmbedPanel }) {
  useEffect(() => {
    document.documentElement.dataset['embed'] = panel;
  }, [panel]);
  return (
    <div className="embed col gap-4" data-panel={panel}>
      <EmbedBar panel={panel} />
      <main className="embed-panel col gap-4 fill low scrolls" aria-label={EMBED_PANELS[panel].label}>
        <Boundary name={`The panel “${EMBED_PANELS[panel].label}”`}>
          <Suspense fallback={<div aria-busy="true" />}>
            <PanelContent panel={panel} />
          </Suspense>
        </Boundary>
      </main>
      <RunProblem />
      <AddressNotes inFrame />
    </div>
  );
}

function PanelContent({ panel }: { readonly panel: EmbedPanel }) {
  switch (panel) {
    case 'stage':
      return <EmbeddedStage />;
    case 'rollout':
      return <EmbeddedRollout />;
    case 'curve':
      return <EmbeddedCurve />;
    case 'exercise':
      return <EmbeddedExercise />;
    case 'answer':
      return <EmbeddedAnswer />;
    default:
      return panel satisfies never;
  }
}

/** The rollout in view with its board. Before there is a run, also the recording's updates. */
function EmbeddedRollout() {
  const hasNoRun = useLive((s) => s.session === 'none');
  return (
    <>
      {hasNoRun && <RecordedUpdates />}
      <div className="stage-row">
        <EnvPanel />
        <RolloutPanel />
      </div>
    </>
  );
}

/** Whether the bar has a button to train. The other panels have their own buttons. */
const HAS_TRAIN_BUTTON: Readonly<Record<EmbedPanel, boolean>> = {
  stage: false,
  rollout: true,
  curve: true,
  exercise: false,
  answer: false,
};

function EmbedBar({ panel }: { readonly panel: EmbedPanel }) {
  const preset = useConfig((s) => s.preset);
  const running = useLive((s) => s.running);
  const awaited = useAwaitedUpdate();
  const update = useLive((s) => (s.session === 'none' ? null : s.update));
  return (
    <header className="row rigid">
      <b className="cut">
        {panel === 'exercise' || panel === 'answer' ? 'Rollout Playground' : presetNamed(preset).label}
      </b>
      {update !== null && <span className="faint">update {update}</span>}
      {awaited !== null && HAS_TRAIN_BUTTON[panel] && (
        <span className="faint cut">The link shows update {awaited}</span>
      )}
      {HAS_TRAIN_BUTTON[panel] && (
        <button type="button" className="small run" onClick={() => (running ? pause() : run())}>
          <Icon name={running ? 'pause' : 'play'} /> {running ? 'Pause' : 'Train it here'}
        </button>
      )}
      <WholePageLink />
    </header>
  );
}

/** Why the run doesn't train, below the panel. The whole page has buttons for what helps. */
function RunProblem() {
  const problem = useLive((s) => s.problem);
  return (
    problem && (
      <p className="small embed-problem" role="alert">
        <b>{problem.message}</b> {problem.hint}
      </p>
    )
  );
}

/** A link out of the frame: opens the whole page at the same place. */
function WholePageLink() {
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
