import { useEffect, useMemo } from 'react';
import { differences, useConfig } from '../knobs/configStore.ts';
import { useAnswer } from '../run/runAnswers.ts';
import { live, useLive } from '../run/liveStore.ts';
import { playQuestion } from '../../wire/playQuestion.ts';
import type { Question } from '../../wire/questions.ts';
import { playOf } from './play.ts';
import { useStage } from './stageStore.ts';

/** A task to be played by the run as it is. */
interface Task {
  readonly seed: number;
  readonly update: number;
}

/** Whether the run that is there is of the knobs that the page shows. */
export function useOwnRun(): boolean {
  useLive((s) => s.session);
  useConfig();
  return isOwnRun();
}

/** The same outside of React. */
export function isOwnRun(): boolean {
  const { wanted, applied } = useConfig.getState();
  if (useLive.getState().session === 'none') return false;
  return applied === null || differences(wanted, applied).length === 0;
}

/** Has the reader's run play the task after each update, and keeps what came of it for the stage. */
export function useOwnPlays(seed: number | undefined, own: boolean): void {
  const update = useLive((s) => s.update);
  const ready = useLive((s) => s.session === 'ready' && s.phase !== 'imitating');
  const task = useMemo(
    () => (own && ready && update > 0 && seed !== undefined ? { seed, update } : null),
    [own, ready, seed, update],
  );
  const asked = useAnswer('talk', task, askFor);
  useEffect(() => {
    if (!asked?.reply.ok) return;
    const { said, vocabulary } = asked.reply.answer;
    const play = playOf(said, vocabulary, asked.subject.seed, asked.subject.update);
    if (!play) return;
    useStage.setState(({ own: before }) => ({ own: [...before.filter((each) => each.update < play.update), play] }));
  }, [asked]);
}

function askFor({ seed }: Task): Question {
  return playQuestion(seed, live.config ?? useConfig.getState().wanted);
}
