import { useEffect } from 'react';
import { Brand } from '../shell/Brand.tsx';
import { PresetMenu, HeaderEnd } from '../shell/Header.tsx';
import { useConfig } from '../knobs/configStore.ts';
import '../styles/stage.css';
import '../styles/replay.css';
import { goOn, pause } from '../replay/player.ts';
import { Duel } from './Duel.tsx';
import { useRecording } from './shownRecording.ts';
import { toTask, useStage } from './stageStore.ts';

const HEADLINE = 'A tiny language model learns to use a tool, right in your browser.';

/** What a first visit opens: an agent before and after training at the same task, and the way to train one, to play, to the lab. */
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

/** What the stage says and shows of the recording of the chosen preset, wherever it stands. */
export function StagePanel() {
  useStillReplay();
  return (
    <>
      <p className="duel-headline">{HEADLINE}</p>
      <Shown />
    </>
  );
}

/** The recording, once it is there. */
function Shown() {
  const preset = useConfig((s) => s.preset);
  const recording = useRecording(preset);
  useEffect(() => {
    toTask(0);
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    useStage.setState({ at: null, playing: !still, contest: false });
  }, [preset]);
  if (recording === 'missing') {
    return (
      <p className="note" role="alert">
        The recorded run could not be loaded. Check the connection and load the page anew, or{' '}
        <a href="#/lab">open the lab</a> and train.
      </p>
    );
  }
  return recording ? <Duel recording={recording} preset={preset} /> : <div className="boards" aria-busy="true" />;
}

/** The lab's recording stands still while the stage is on view, and goes on with the lab. */
function useStillReplay(): void {
  useEffect(() => {
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    pause();
    return () => {
      if (!still) goOn();
    };
  }, []);
}
