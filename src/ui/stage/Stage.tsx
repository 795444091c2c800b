import { lazy, Suspense, useEffect, useState } from 'react';
import { recordedPreset } from '../../config/recordings.ts';
import { PresetMenu, HeaderEnd, Brand } from '../frame/Header.tsx';
import { useConfig } from '../../page/knobs/configStore.ts';
import { resumePlayback, pause } from '../../page/view/player.ts';
import { useSubpath } from '../../page/address/route.ts';
import { Duel } from './Duel.tsx';
import { showTask, useStage, readStagePlace } from '../../page/stage/stageStore.ts';
import type { PresetName } from '../../config/presets.ts';
import type { Recording } from '../../runs/recording.ts';
import { shippedRecording } from '../../page/view/shippedRecording.ts';
import './stage.css';

// reads the browser's storage, which the first paint does not wait for
const ResumeLine = lazy(() => import('../run/ResumeCard.tsx').then((m) => ({ default: m.ResumeLine })));

const HEADLINE = 'A tiny language model learns to use a tool, right in your browser.';

/** The page that a first visit opens. */
export function Stage() {
  return (
    <>
      <header className="header">
        <Brand />
        <PresetMenu />
        <HeaderEnd />
      </header>
      <main className="screen duel">
        <StagePanel />
      </main>
    </>
  );
}

/** The stage's headline and the recording of the chosen preset, without the page header. The embedded page shows it too. */
export function StagePanel() {
  usePausedReplay();
  return (
    <>
      <div className="grid gap-4">
        <p className="duel-headline">{HEADLINE}</p>
        <Suspense>
          <ResumeLine />
        </Suspense>
      </div>
      <RecordingPanel />
    </>
  );
}

function RecordingPanel() {
  const preset = useConfig((s) => recordedPreset(s.preset));
  const subpath = useSubpath();
  const recording = useRecording(preset);
  useEffect(() => {
    const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const { task, chosenUpdate } = readStagePlace(subpath);
    showTask(task);
    useStage.setState({ chosenUpdate, playing: !reducedMotion, inContest: false, ownPlays: [] });
  }, [preset, subpath]);
  if (recording === 'missing') {
    return (
      <p className="note" role="alert">
        The recorded run could not be loaded. Check the connection and reload the page, or{' '}
        <a href="#/lab">open the lab</a> and train.
      </p>
    );
  }
  return recording ? <Duel recording={recording} preset={preset} /> : <div className="boards" aria-busy="true" />;
}

/** The recording continues when the stage closes, unless the visitor prefers reduced motion. */
function usePausedReplay(): void {
  useEffect(() => {
    const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
    pause();
    return () => {
      if (!reducedMotion) resumePlayback();
    };
  }, []);
}

/** The recording of a preset. Null until it has loaded, `missing` if it can't be loaded. */
function useRecording(preset: PresetName): Recording | 'missing' | null {
  const [loaded, setLoaded] = useState<{ readonly of: PresetName; readonly recording: Recording | 'missing' }>();
  useEffect(() => {
    let unmounted = false;
    const take = (recording: Recording | 'missing') => {
      if (!unmounted) setLoaded({ of: preset, recording });
    };
    shippedRecording(preset).then(take, () => take('missing'));
    return () => {
      unmounted = true;
    };
  }, [preset]);
  return loaded?.of === preset ? loaded.recording : null;
}
