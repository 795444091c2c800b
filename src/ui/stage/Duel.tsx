import { useMemo } from 'react';
import type { PresetName } from '../../config/presets.ts';
import { EVALUATION_WORDS, evaluationSetOf } from '../../domain/evaluationSet.ts';
import type { Recording } from '../../runs/recording.ts';
import { useConfig } from '../knobs/configStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { counted } from '../parts/countText.ts';
import { percent } from '../parts/numberText.ts';
import { live, useLive } from '../run/liveStore.ts';
import { Board, outcome } from './Board.tsx';
import { Contest } from './Contest.tsx';
import { LearningCurve } from './LearningCurve.tsx';
import { useOwnPlays, useOwnRun } from './liveAgent.ts';
import { isOver, type Play } from './play.ts';
import { canBeat, followedSeeds, playsOf } from './recordedTasks.ts';
import { sidesOf } from './sides.ts';
import { StageButtons } from './StageButtons.tsx';
import { replay, useStage, WHOLE } from './stageStore.ts';
import { usePlayClock } from './playClock.ts';

interface Props {
  readonly recording: Recording;
  readonly preset: PresetName;
}

const NO_POINTS: readonly number[] = [];

/** One task, an agent before training beside one after it; the curve between the two, to drag along. */
export function Duel({ recording, preset }: Props) {
  const { task: chosen, at, step, playing, before } = useStage();
  const isOwn = useOwnRun();
  const own = useStage((s) => s.own);
  useLive((s) => s.metricsVersion);
  const seeds = followedSeeds(recording);
  const task = chosen < seeds.length ? chosen : 0; // an address may name any
  const recorded = useMemo(() => playsOf(recording, task), [recording, task]);
  useOwnPlays(seeds[task] ?? recorded.at(-1)?.episode.seed, isOwn);
  const { before: untrained, after: right, plays } = sidesOf(recorded, recording, isOwn, { at, own });
  const steps = Math.max(untrained?.ends.length ?? 0, right?.ends.length ?? 0);
  usePlayClock(steps, Math.max(1, seeds.length), isOwn);
  const shown = isOwn ? WHOLE : step;
  const { begun, series } = recording;
  const curve = useMemo(() => Array.from(series.get('rollout/success')?.points.y ?? NO_POINTS), [series]);
  const ownCurve = isOwn ? Array.from(live.series.get('rollout/success')?.points.y ?? NO_POINTS) : NO_POINTS;
  const contest = useStage((s) => s.contest);
  const empty = untrained ?? recorded[0];
  if (contest) return <Contest recording={recording} own={isOwn} />;
  if (!empty) return null;
  const updates = right?.update ?? 0;
  const title = `${isOwn ? 'Yours, after' : 'After'} ${updates} ${updates === 1 ? 'update' : 'updates'}`;
  return (
    <>
      <div className="boards" data-shown={before && untrained ? 'before' : 'after'} data-count={untrained ? 2 : 1}>
        {untrained && <Board title="Before training" play={untrained} step={shown} config={begun} side="before" />}
        <Board title={title} play={right ?? empty} step={right ? shown : 0} config={begun} side="after" />
      </div>
      <div className="line duel-line">
        {untrained && <Switch before={before} />}
        <PlayButton over={step >= steps} playing={playing} own={isOwn} />
        <p>
          {isOwn ? (
            <Progress />
          ) : untrained ? (
            'Same task, same random draws: only training differs.'
          ) : (
            'Its best rollout of this update.'
          )}
        </p>
        <details className="small">
          <summary>Details</summary>
          <Details recording={recording} chosen={untrained !== null} />
        </details>
      </div>
      <LearningCurve
        success={isOwn ? ownCurve : curve}
        updates={plays.length > 0 ? plays.map(({ update }) => update) : [0]}
        shown={right?.update ?? 0}
        until={isOwn ? useConfig.getState().wanted.updates : begun.updates}
        behind={isOwn ? curve : null}
      />
      <StageButtons {...{ preset, isOwn }} shown={updates} recordedSeed={begun.seed} playable={canBeat(recording)} />
      <p className="visually-hidden" role="status">
        {!isOwn && told(untrained, right, step)}
      </p>
    </>
  );
}

/** How the plays ended, once they have. */
function told(untrained: Play | null, right: Play | null, step: number): string {
  const shown = [untrained, right].filter((play): play is Play => play !== null);
  if (!shown.every((play) => isOver(play, step))) return '';
  return shown
    .map(
      (play) => `${play.update === 0 ? 'Before training' : `After ${play.update} updates`}: ${outcome(play.episode)}.`,
    )
    .join(' ');
}

/** On a phone one board has room: which of the two it is. */
function Switch({ before }: { readonly before: boolean }) {
  return (
    <span className="segments duel-switch" role="group" aria-label="Which agent">
      {([true, false] as const).map((isBefore) => (
        <button
          key={String(isBefore)}
          type="button"
          aria-pressed={before === isBefore}
          onClick={() => useStage.setState({ before: isBefore })}
        >
          {isBefore ? 'Before' : 'After'}
        </button>
      ))}
    </span>
  );
}

interface PlayButtonProps {
  readonly over: boolean;
  readonly playing: boolean;
  readonly own: boolean;
}

/** Pauses the play, goes on with it, or plays it once more; without motion, a step a press. */
function PlayButton({ over, playing, own }: PlayButtonProps) {
  if (own) return null;
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const next = () => useStage.setState((s) => ({ step: s.step + 1 }));
  const act = over
    ? () => (still ? useStage.setState({ step: 0 }) : replay())
    : still
      ? next
      : () => useStage.setState({ playing: !playing });
  const name = over ? 'Play again' : still ? 'Next step' : playing ? 'Pause the play' : 'Play';
  const icon = over ? 'restart' : still ? 'step' : playing ? 'pause' : 'play';
  return (
    <button type="button" className="quiet icon-button" aria-label={name} title={name} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}

/** How the reader's own run goes, and what came of it. */
function Progress() {
  const { session, phase, update, finished, running, problem } = useLive();
  const config = useConfig((s) => s.wanted);
  if (problem) return <span role="alert">{problem.message} Open the lab to see what to do.</span>;
  const heldOut = live.series.get('eval/success');
  if (finished) {
    return (
      <b role="status">
        Your agent: {percent(heldOut?.first)} → {percent(heldOut?.latest)} of{' '}
        {EVALUATION_WORDS[evaluationSetOf(config)].tasks} solved, in {counted(update, 'update')}.
      </b>
    );
  }
  if (session === 'starting' || update === 0) return phase === 'imitating' ? 'Imitating first …' : 'Starting …';
  return `${running ? 'Training' : 'Paused'}: update ${update} of ${config.updates}. Grey: the recorded run.`;
}

/** What the comparison is, with its numbers. */
function Details({
  recording: { begun, series, name },
  chosen,
}: {
  readonly recording: Recording;
  readonly chosen: boolean;
}) {
  const heldOut = series.get('eval/success');
  const { success } = EVALUATION_WORDS[evaluationSetOf(begun)];
  return (
    <p className="duel-details">
      {chosen && 'This task was chosen because the two agents differ on it. '}
      {success}: {percent(heldOut?.first)} → {percent(heldOut?.latest)}. A recorded run of {name}, seed {begun.seed}.
      Hatched: written by the tool, not trained.
    </p>
  );
}
