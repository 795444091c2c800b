import { useMemo, useEffect, type KeyboardEvent as KeyPress, type PointerEvent, useRef } from 'react';
import { type PresetName, presetNamed } from '../../config/presets.ts';
import { EVALUATION_WORDS, evaluationSetOf } from '../../domain/evaluationSet.ts';
import type { Recording } from '../../runs/recording.ts';
import { useConfig, editKnobs } from '../../page/knobs/configStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { counted, percent } from '../../page/words/numberText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { KINDS_WITHOUT_QUESTION, Board } from '../tokens/Board.tsx';
import { Contest } from './Contest.tsx';
import { useOwnPlays, useOwnRun } from '../../page/stage/liveAgent.ts';
import { isOver, outcome, type Play, canBeat, followedSeeds, playsOf, sidesOf } from '../../page/stage/play.ts';
import { replay, useStage, ALL_STEPS, showUpdate, usePlayClock } from '../../page/stage/stageStore.ts';
import { useAddress } from '../../page/view/address.ts';
import { storeLastAddress } from '../../page/address/lastAddress.ts';
import { showNearestUpdate } from '../../page/view/player.ts';
import { pause, run, start } from '../../page/training/transport.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { useSize } from '../../page/browser/useSize.ts';
import { updateAt } from '../../page/curves/plot.ts';
import { SuccessCurve, curvePlot } from '../charts/SuccessCurve.tsx';

interface Props {
  readonly recording: Recording;
  readonly preset: PresetName;
}

const NO_POINTS: readonly number[] = [];
const MAX_QUESTION_LENGTH = 40; // characters; the question shares its line with other text

/**
 * The duel: one task, played by the agent before training and by the agent after an update, side by side. A recording
 * without tasks from before training shows only the second agent. Below is the learning curve; dragging along it
 * chooses the update of the agent on the right.
 */
export function Duel({ recording, preset }: Props) {
  const { task: chosenTask, chosenUpdate, ownPlays, step, playing, inContest } = useStage();
  const isOwn = useOwnRun();
  useLive((s) => s.metricsVersion);
  const seeds = useMemo(() => followedSeeds(recording), [recording]);
  const task = chosenTask < seeds.length ? chosenTask : 0; // an address may contain any number
  const recorded = useMemo(() => playsOf(recording, task), [recording, task]);
  const lastSeed = recorded.at(-1)?.episode.seed;
  useOwnPlays(
    useMemo(() => (seeds.length > 0 || lastSeed === undefined ? seeds : [lastSeed]), [seeds, lastSeed]),
    task,
    isOwn,
  );
  const {
    before: untrained,
    after: afterPlay,
    plays,
  } = sidesOf(recorded, recording, isOwn, { chosenUpdate, ownPlays });
  const steps = Math.max(untrained?.stepEnds.length ?? 0, afterPlay?.stepEnds.length ?? 0);
  usePlayClock(steps, Math.max(1, seeds.length), isOwn);
  const shownSteps = isOwn ? ALL_STEPS : step;
  const { begun, series } = recording;
  const curve = useMemo(() => Array.from(series.get('rollout/success')?.points.y ?? NO_POINTS), [series]);
  const ownCurve = isOwn
    ? Array.from(useLive.getState().series.get('rollout/success')?.points.y ?? NO_POINTS)
    : NO_POINTS;
  const firstPlay = untrained ?? recorded[0];
  if (inContest) return <Contest recording={recording} isOwn={isOwn} />;
  if (!firstPlay) return null;
  const updates = afterPlay?.update ?? 0;
  const title = `${isOwn ? 'Yours, after' : 'After'} ${updates} ${updates === 1 ? 'update' : 'updates'}`;
  return (
    <>
      <div className="boards" data-count={untrained ? 2 : 1}>
        {untrained && <Board title="Before training" play={untrained} step={shownSteps} config={begun} side="before" />}
        <Board
          title={title}
          play={afterPlay ?? firstPlay}
          step={afterPlay ? shownSteps : 0}
          config={begun}
          side="after"
        />
      </div>
      <div className="line duel-line wrap centred large">
        <PlayButton over={step >= steps} playing={playing} isOwn={isOwn} />
        <p>{isOwn ? <Progress /> : untrained ? sharedText(untrained) : 'Its best rollout of this update.'}</p>
        <details className="small">
          <summary>Details</summary>
          <Details recording={recording} comparesTask={untrained !== null} isOwn={isOwn} />
        </details>
      </div>
      <LearningCurve
        success={isOwn ? ownCurve : curve}
        updates={plays.length > 0 ? plays.map(({ update }) => update) : [0]}
        shown={afterPlay?.update ?? 0}
        plannedUpdates={isOwn ? useConfig.getState().wanted.updates : begun.updates}
        recordedSuccess={isOwn ? curve : null}
      />
      <StageButtons {...{ preset, isOwn }} shown={updates} recordedSeed={begun.seed} playable={canBeat(recording)} />
      <p className="visually-hidden" role="status">
        {!isOwn && outcomesText(untrained, afterPlay, step)}
      </p>
    </>
  );
}

/** Says what both agents have in common. Begins with the question if that is short and the board doesn't show it. */
function sharedText({ episode: { question, view } }: Play): string {
  const omitQuestion = KINDS_WITHOUT_QUESTION.includes(view.kind) || question.length > MAX_QUESTION_LENGTH;
  return omitQuestion
    ? 'Both play the same task, with the same random draws.'
    : `${question} Both get the same random draws.`;
}

/** The results of both plays in words; '' until both are over. */
function outcomesText(untrained: Play | null, afterPlay: Play | null, step: number): string {
  const shown = [untrained, afterPlay].filter((play): play is Play => play !== null);
  if (!shown.every((play) => isOver(play, step))) return '';
  return shown
    .map(
      (play) => `${play.update === 0 ? 'Before training' : `After ${play.update} updates`}: ${outcome(play.episode)}.`,
    )
    .join(' ');
}

interface PlayButtonProps {
  readonly over: boolean;
  readonly playing: boolean;
  readonly isOwn: boolean; // whether the reader's own run plays; it needs no button
}

/** Pauses, continues or repeats the play. If the visitor prefers reduced motion, each press shows one more step. */
function PlayButton({ over, playing, isOwn }: PlayButtonProps) {
  if (isOwn) return null;
  const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const next = () => useStage.setState((s) => ({ step: s.step + 1 }));
  const onPress = over
    ? () => (reducedMotion ? useStage.setState({ step: 0 }) : replay())
    : reducedMotion
      ? next
      : () => useStage.setState({ playing: !playing });
  const name = over ? 'Play again' : reducedMotion ? 'Next step' : playing ? 'Pause the play' : 'Play';
  const icon = over ? 'restart' : reducedMotion ? 'step' : playing ? 'pause' : 'play';
  return (
    <button
      type="button"
      className={reducedMotion ? 'quiet' : 'quiet icon-button'}
      aria-label={reducedMotion ? undefined : name}
      title={name}
      onClick={onPress}
    >
      <Icon name={icon} />
      {reducedMotion && ` ${name}` /* the boards don't move and are nearly empty, so the button needs a text */}
    </button>
  );
}

function Progress() {
  const { session, phase, update, finished, running, problem } = useLive();
  const config = useConfig((s) => s.wanted);
  if (problem) return <span role="alert">{problem.message} Open the lab to see what to do.</span>;
  const heldOut = useLive.getState().series.get('eval/success');
  if (finished) {
    return (
      <b role="status">
        Your agent: {percent(heldOut?.firstValue)} → {percent(heldOut?.lastValue)} of{' '}
        {EVALUATION_WORDS[evaluationSetOf(config)].tasks} solved, in {counted(update, 'update')}.
      </b>
    );
  }
  if (session === 'starting' || update === 0) return phase === 'imitating' ? 'Imitating first …' : 'Starting …';
  return `${running ? 'Training' : 'Paused'}: update ${update} of ${config.updates}. Grey: the recorded run.`;
}

function Details({
  recording: { begun, series, name },
  comparesTask,
  isOwn,
}: {
  readonly recording: Recording;
  readonly comparesTask: boolean; // whether both agents play one task, chosen for its difference
  readonly isOwn: boolean; // whether the agent comes from the reader's own run
}) {
  const heldOut = series.get('eval/success');
  const { success } = EVALUATION_WORDS[evaluationSetOf(begun)];
  return (
    <p className="duel-details">
      {comparesTask &&
        (isOwn
          ? 'The recorded agent solves this task only after training. When yours has finished, you see one of the recorded tasks that it solves, if there is one. '
          : 'This task was chosen because the agent plays it differently before and after training. ')}
      {success}, when the agent always takes its likeliest word: {percent(heldOut?.firstValue)} →{' '}
      {percent(heldOut?.lastValue)}. A recorded run of {name}, seed {begun.seed}. The tool’s words have a hatched
      background. The agent isn’t trained on them.
    </p>
  );
}

interface StageButtonsProps {
  readonly preset: PresetName;
  readonly isOwn: boolean;
  readonly shown: number; // the update whose agent plays
  readonly recordedSeed: number;
  readonly playable: boolean; // whether a person can play the tasks here, word by word
}

function StageButtons({ preset, isOwn, shown, recordedSeed, playable }: StageButtonsProps) {
  const address = useAddress();
  const running = useLive((s) => s.running);
  const finished = useLive((s) => s.finished);
  const done = isOwn && finished;
  useSpace(isOwn);
  return (
    <div className="duel-buttons flex gap-5 centred">
      {presetNamed(preset).recording?.checkpointName === undefined ? (
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
      <button type="button" onClick={() => (playable ? startContest() : useSelection.setState({ playing: true }))}>
        Beat the agent
      </button>
      <button type="button" className={done ? 'primary' : ''} onClick={() => openLab(address('lab'), isOwn, shown)}>
        Open the lab
      </button>
    </div>
  );
}

/** Starts the contest. Training goes on in the meantime. */
function startContest(): void {
  useStage.setState({ inContest: true, playing: false });
}

function train(isOwn: boolean, running: boolean, finished: boolean, recordedSeed: number): void {
  if (isOwn && running) pause();
  else if (isOwn && !finished) run();
  else {
    useStage.setState({ ownPlays: [], playing: false, step: ALL_STEPS, chosenUpdate: null });
    // with the recording's seed, a run on the CPU would repeat the recorded curve and look like a replay
    if (useConfig.getState().wanted.seed === recordedSeed) editKnobs({ seed: recordedSeed + 1 });
    start(true);
    storeLastAddress('#/lab'); // so that the visitor can come back to the run
  }
}

function openLab(lab: string, isOwn: boolean, shown: number): void {
  if (!isOwn) showNearestUpdate(shown);
  location.assign(lab);
}

/** Lets the space key pause and continue: training if `isOwn`, otherwise the play. */
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

interface LearningCurveProps {
  readonly success: readonly number[]; // by update from 1
  readonly updates: readonly number[]; // the updates whose agent can be shown, ascending
  readonly shown: number; // the update whose agent is shown
  readonly plannedUpdates: number; // planned number of updates of the run
  readonly recordedSuccess: readonly number[] | null; // of the recorded run, shown behind the curve of the reader's run
}

const PAGE_KEY_STEPS = 4; // number of indices in `updates` that Page Up and Page Down move
const CURVE_HEIGHT = { min: 58, max: 150 }; // px

function LearningCurve({ success, updates, shown, plannedUpdates, recordedSuccess }: LearningCurveProps) {
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const shownIndex = Math.max(0, updates.indexOf(shown));
  const last = updates.length - 1;
  const go = (to: number) => showUpdate(updates[Math.min(last, Math.max(0, to))] ?? null);
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (event.type === 'pointerdown') event.currentTarget.setPointerCapture(event.pointerId);
    else if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const { left } = event.currentTarget.getBoundingClientRect();
    const plot = curvePlot({ updates, until: plannedUpdates, size: { width, height } });
    const wanted = updateAt(plot, event.clientX - left);
    const distance = (i: number) => Math.abs((updates[i] ?? 0) - wanted);
    go(updates.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0));
  };
  const onKey = (event: KeyPress) => {
    const to = indexForKey(event.key, shownIndex, last);
    if (to === null) return;
    event.preventDefault();
    go(to);
  };
  const rate = success[Math.max(0, shown - 1)];
  return (
    <div
      ref={box}
      className="learning-curve"
      role="slider"
      tabIndex={0}
      aria-label="Drag through training"
      aria-valuemin={updates[0] ?? 0}
      aria-valuemax={updates.at(-1) ?? 0}
      aria-valuenow={shown}
      aria-valuetext={shown === 0 ? 'Before training' : `After ${shown} updates, training success ${percent(rate)}`}
      onPointerDown={drag}
      onPointerMove={drag}
      onKeyDown={onKey}
    >
      {shownIndex === last && recordedSuccess === null && (
        <span className="learning-curve-hint" aria-hidden="true">
          ◂ drag: watch it learn
        </span>
      )}
      {width > 0 && (
        <SuccessCurve
          {...{ success, updates, shownIndex, axisEnd: plannedUpdates }}
          hasDots={false}
          hasTitles
          {...(recordedSuccess && { comparedSuccess: recordedSuccess })}
          size={{ width, height: Math.min(CURVE_HEIGHT.max, Math.max(CURVE_HEIGHT.min, height)) }}
          label={`Training success by update, up to update ${success.length}`}
        />
      )}
    </div>
  );
}

/** The index in `updates` to which a key moves from `index`; null for other keys. It may be outside of 0 to `last`. */
function indexForKey(key: string, index: number, last: number): number | null {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return index - 1;
    case 'ArrowRight':
    case 'ArrowUp':
      return index + 1;
    case 'PageDown':
      return index - PAGE_KEY_STEPS;
    case 'PageUp':
      return index + PAGE_KEY_STEPS;
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}
