import { useEffect, useMemo } from 'react';
import { differences, useConfig } from '../knobs/configStore.ts';
import { useAnswer } from '../run/runAnswers.ts';
import { live, useLive } from '../run/liveStore.ts';
import { playQuestion } from '../../wire/playQuestion.ts';
import type { Question } from '../../wire/questions.ts';
import { type Play, playOf } from './play.ts';
import { useStage } from './stageStore.ts';

/** A task that the run's current agent is to play. */
interface Task {
  readonly seed: number;
  readonly update: number;
}

/** Whether there is a run and its knobs are those that the page shows. */
export function useOwnRun(): boolean {
  useLive((s) => s.session);
  useConfig();
  return isOwnRun();
}

/** `useOwnRun` for code outside of React. */
export function isOwnRun(): boolean {
  const { wanted, applied } = useConfig.getState();
  if (useLive.getState().session === 'none') return false;
  return applied === null || differences(wanted, applied).length === 0;
}

/**
 * Lets the reader's run play a task after each update, alternately the shown task and one of the others, and keeps the
 * plays for the stage. A finished run plays all tasks. If it doesn't solve the shown task, the stage then shows a task
 * that it solves.
 */
export function useOwnPlays(seeds: readonly number[], shown: number, own: boolean): void {
  const update = useLive((s) => s.update);
  const finished = useLive((s) => s.finished);
  const ready = useLive((s) => s.session === 'ready' && s.phase !== 'imitating');
  const plays = useStage((s) => s.own);
  const task = useMemo(() => {
    const seed = own && ready && update > 0 ? nextSeed(seeds, shown, update, plays) : undefined;
    return seed === undefined ? null : { seed, update };
  }, [own, ready, seeds, shown, update, plays]);
  const asked = useAnswer('talk', task, askFor);
  useEffect(() => {
    if (!asked?.reply.ok) return;
    const { said, vocabulary } = asked.reply.answer;
    const { seed } = asked.subject;
    const play = playOf(said, vocabulary, seed, asked.subject.update);
    if (!play) return;
    const older = (each: Play) => each.episode.seed !== seed || each.update < play.update;
    useStage.setState(({ own: before }) => ({ own: [...before.filter(older), play] }));
  }, [asked]);
  const over = own && finished && update > 0 && task === null;
  useEffect(() => {
    if (!over || useStage.getState().at !== null) return;
    useStage.setState({ task: taskToShow(seeds, shown, plays) });
  }, [over, seeds, shown, plays]);
}

/**
 * The index in `seeds` of the task to show: the shown task if the newest agent solves it or solves none, otherwise the
 * first that it solves.
 */
export function taskToShow(seeds: readonly number[], shown: number, plays: readonly Play[]): number {
  const solved = seeds.map((seed) => lastPlay(plays, seed)?.episode.success ?? false);
  return solved[shown] || !solved.includes(true) ? shown : solved.indexOf(true);
}

/**
 * The seed of the task to play next after an update. Plays alternate between the shown task and, of the other tasks, the
 * one that was played longest ago. Undefined if all tasks were played after this update.
 */
export function nextSeed(
  seeds: readonly number[],
  shown: number,
  update: number,
  plays: readonly Play[],
): number | undefined {
  const played = (seed: number) => lastPlay(plays, seed)?.update ?? 0;
  const due = seeds.filter((seed) => played(seed) < update);
  const [other] = due.filter((seed) => seed !== seeds[shown]).toSorted((a, b) => played(a) - played(b));
  const isDue = due.some((seed) => seed === seeds[shown]);
  return isDue && (other === undefined || plays.at(-1)?.episode.seed !== seeds[shown]) ? seeds[shown] : other;
}

const lastPlay = (plays: readonly Play[], seed: number) => plays.findLast(({ episode }) => episode.seed === seed);

function askFor({ seed }: Task): Question {
  return playQuestion(seed, live.config ?? useConfig.getState().wanted);
}
