import { useEffect } from 'react';
import { type PresetName, presetNamed } from '../../config/presets.ts';
import { useAddress } from '../address/address.ts';
import { noteAddress } from '../address/lastAddress.ts';
import { edit, useConfig } from '../knobs/configStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { toNearest } from '../replay/player.ts';
import { useLive } from '../run/liveStore.ts';
import { pause, run, start } from '../run/transport.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { useStage, WHOLE } from './stageStore.ts';

interface Props {
  readonly preset: PresetName;
  readonly isOwn: boolean;
  readonly shown: number; // update whose agent plays
  readonly recordedSeed: number;
  readonly playable: boolean; // its tasks can be played here, word by word
}

/** What to do now: train, play against the agent, look closer. */
export function StageButtons({ preset, isOwn, shown, recordedSeed, playable }: Props) {
  const address = useAddress();
  const running = useLive((s) => s.running);
  const finished = useLive((s) => s.finished);
  const done = isOwn && finished;
  useSpace(isOwn);
  return (
    <div className="duel-buttons">
      {presetNamed(preset).recording?.beside === undefined ? (
        <button
          type="button"
          className={done ? '' : 'primary'}
          onClick={() => train(isOwn, running, finished, recordedSeed)}
        >
          <Icon name={isOwn && running ? 'pause' : done ? 'restart' : 'play'} />
          {isOwn ? (running ? 'Pause' : done ? 'Train again' : 'Go on') : 'Train your own'}
        </button>
      ) : (
        <a className="button" href={address('train')}>
          Train your own
        </a>
      )}
      <button type="button" onClick={() => (playable ? contest() : useSelection.setState({ playing: true }))}>
        Beat the agent
      </button>
      <button type="button" className={done ? 'primary' : ''} onClick={() => toLab(address('lab'), isOwn, shown)}>
        Open the lab
      </button>
    </div>
  );
}

/** The reader takes the agent's place; training goes on beside it. */
function contest(): void {
  useStage.setState({ contest: true, playing: false });
}

function train(isOwn: boolean, running: boolean, finished: boolean, recordedSeed: number): void {
  if (isOwn && running) pause();
  else if (isOwn && !finished) run();
  else {
    useStage.setState({ own: [], playing: false, step: WHOLE, at: null });
    // with the recording's seed the reader's curve would retrace the recorded one on the CPU, and look like a replay
    if (useConfig.getState().wanted.seed === recordedSeed) edit({ seed: recordedSeed + 1 });
    start(true);
    noteAddress('#/lab'); // there is a run to come back to
  }
}

/** Opens the lab at the run, and at the update, that the stage shows. */
function toLab(lab: string, isOwn: boolean, shown: number): void {
  if (!isOwn) toNearest(shown);
  location.assign(lab);
}

/** Space pauses what goes on: training, else the play. */
function useSpace(isOwn: boolean): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : document.body;
      if (event.key !== ' ' || event.defaultPrevented || document.querySelector('dialog[open]')) return;
      if (target.closest('button, summary, a, input, textarea, select')) return;
      event.preventDefault();
      const { running, finished } = useLive.getState();
      if (isOwn) {
        if (running) pause();
        else if (!finished) run();
      } else useStage.setState((s) => ({ playing: !s.playing }));
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [isOwn]);
}
