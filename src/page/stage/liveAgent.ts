import { useEffect, useMemo } from 'react';
import { knobDifferences, useConfig } from '../knobs/configStore.ts';
import { useAnswer } from '../training/runAnswers.ts';
import { useLive } from '../view/liveStore.ts';
import { type Question, playQuestion } from '../../wire/questions.ts';
import { type Play, playOf } from './play.ts';
import { useStage } from './stageStore.ts';

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
  return applied === null || knobDifferences(wanted, applied).length === 0;
}

/**
 * Lets the reader's run play a task after each update, alternately the shown task and one of the others, and keeps the
 * plays for the stage. When the run has finished, its agent plays all tasks. If it doesn't solve the shown task, the
 * stage then shows a task that it solves.
 */
export function useOwnPlays(seeds: readonly number[], shownTask: number, isOwn: boolean): void {
  const update = useLive((s) => s.update);
  const finished = useLive((s) => s.finished);
  const ready = useLive((s) => s.session === 'ready' && s.phase !== 'imitating');
  const plays = useStage((s) => s.ownPlays);
  const task = useMemo(() => {
    const seed = isOwn && ready && update > 0 ? nextSeed(seeds, shownTask, update, plays) : undefined;
    return seed === undefined ? null : { seed, update };
  }, [isOwn, ready, seeds, shownTask, update, plays]);
  const asked = useAnswer('talk', task, askFor);
  useEffect(() => {
    if (!asked?.reply.ok) return;
    const { batch, vocabulary } = asked.reply.answer;
    const { seed } = asked.subject;
    const play = playOf(batch, vocabulary, seed, asked.subject.update);
    if (!play) return;
    const stays = (each: Play) => each.episode.seed !== seed || each.update < play.update;
    useStage.setState(({ ownPlays }) => ({ ownPlays: [...ownPlays.filter(stays), play] }));
  }, [asked]);
  const allPlayed = isOwn && finished && update > 0 && task === null;
  useEffect(() => {
    if (!allPlayed || useStage.getState().chosenUpdate !== null) return;
    useStage.setState({ task: taskToShow(seeds, shownTask, plays) });
  }, [allPlayed, seeds, shownTask, plays]);
}

/** Index of the shown task if the newest agent solves it or solves none, otherwise of the first that it solves. */
export function taskToShow(seeds: readonly number[], shownTask: number, plays: readonly Play[]): number {
  const solved = seeds.map((seed) => lastPlay(plays, seed)?.episode.success ?? false);
  return solved[shownTask] || !solved.includes(true) ? shownTask : solved.indexOf(true);
}

/** Alternates between the shown task and, of the others, the one played longest ago. Undefined if all were played after this update. */
export function nextSeed(
  seeds: readonly number[],
  shownTask: number,
  update: number,
  plays: readonly Play[],
): number | undefined {
  const lastUpdate = (seed: number) => lastPlay(plays, seed)?.update ?? 0;
  const due = seeds.filter((seed) => lastUpdate(seed) < update);
  const [other] = due.filter((seed) => seed !== seeds[shownTask]).toSorted((a, b) => lastUpdate(a) - lastUpdate(b));
  const isDue = due.some((seed) => seed === seeds[shownTask]);
  return isDue && (other === undefined || plays.at(-1)?.episode.seed !== seeds[shownTask]) ? seeds[shownTask] : other;
}

const lastPlay = (plays: readonly Play[], seed: number) => plays.findLast(({ episode }) => episode.seed === seed);

function askFor({ seed }: Task): Question {
  return playQuestion(seed, useLive.getState().config ?? useConfig.getState().wanted);
}
