import { stepWords } from './stepWords.ts';
import type { Health } from '../../domain/health.ts';
import type { Phase } from '../../domain/trainingEvent.ts';
import { evaluationClaim, type RunSummary, type HeldOut, type Trend } from './runSummary.ts';
import { intervalText } from '../../base/inferenceWords.ts';
import { EVALUATION_WORDS, evaluationWords } from '../../domain/evaluationSet.ts';
import { counted, duration, percent, percentagePoints } from './numberText.ts';

/** How a run is going: a headline of at most twelve words, its meaning, and the numbers behind it. */
export interface SummaryWords {
  readonly headline: string;
  readonly remark: string;
  readonly numbers: string; // each interval follows the numbers it belongs to
}

export function summarySentence(summary: RunSummary, health: Health | null, finished: boolean): string {
  const { headline, remark, numbers } = summaryWords(summary, health, finished);
  return `${headline} ${remark} ${numbers}`;
}

export function summaryWords(summary: RunSummary, health: Health | null, finished: boolean): SummaryWords {
  const { updates, success, heldOut } = summary;
  const numbers = `Training success (sampled) ${gainWords(summary) ?? `${percent(success.before)} → ${percent(success.now)}, smoothed, in ${updates} updates`}${trendWords(summary)}`;
  return {
    headline: `${finished ? 'Finished. ' : ''}${headlineOf(summary, finished)}.`,
    remark: remarkOn(summary, health, finished),
    numbers: `${[numbers, ...(heldOut ? [heldOutWords(heldOut)] : [])].join('; ')}.`,
  };
}

/**
 * A verdict with its main numbers, which can be understood without the remark and the numbers. If there are evaluations,
 * the numbers are theirs, greedy and sampled; otherwise they are of training rollouts.
 */
function headlineOf(
  { state, updates, success, heldOut, best, gain, trend, drift, flat }: RunSummary,
  finished: boolean,
): string {
  const moved = ({ change, updates }: Trend) =>
    `success ${percentagePoints(change)} points over the last ${updates} updates`;
  const evaluated = heldOut && evaluationNumbers(heldOut);
  const tasks = EVALUATION_WORDS[heldOut?.kind ?? 'mixed'].tasks;
  switch (state) {
    case 'trapped':
      return `Trapped: ${percent(success.now)} solved`;
    case 'falling':
      if (heldOut?.fell && heldOut.changed !== 'less')
        return `Falling on ${tasks}: greedy ${percent(heldOut.best)} → ${percent(heldOut.now)}`;
      if (heldOut && evaluationClaim(heldOut) === 'less') return `Falling on ${tasks}: ${evaluated}`;
      return drift && drift.change < 0
        ? `Falling: ${moved(drift)}`
        : `Falling: ${percent(best)} → ${percent(success.now)}`;
    case 'apart':
      return `Falling on ${tasks}: ${evaluated}`;
    case 'watched':
      return `Watch it: ${evaluated ?? (trend ? moved(trend) : `${percent(success.now)} solved`)}`;
    case 'solved':
      return `${success.now >= SOLVED ? 'Solved' : 'Nearly solved'}: ${evaluated ?? percent(success.now)}`;
    case 'unconfirmed':
      return `Better in training, not confirmed in evaluation: ${evaluated}`;
    case 'stalled': {
      const hasLearned = heldOut ? evaluationClaim(heldOut) === 'more' : gain && gain.interval.low > 0;
      const word = hasLearned ? 'Learned, then stalled' : 'Stalled';
      return `${word}: ${evaluated ?? (flat ? moved(flat) : percent(success.now))}`;
    }
    case 'learning': {
      const isSlow = drift && drift.change < SLOW_RISE * (drift.updates / 30);
      const word = drift ? (isSlow ? 'Still improving, slowly' : 'Learning') : gain && gain.interval.low > 0 ? 'Learned' : 'Learning'; // prettier-ignore
      if (evaluated) return `${word}: ${evaluated}`;
      if (drift) return `${word}: ${moved(drift)}`;
      return `${word}: success ${percentagePoints((gain?.last ?? success.now) - (gain?.first ?? success.before))} points since the start`;
    }
    case 'unclear': {
      if (!finished && updates < MIN_VERDICT_UPDATES) return `Too early to tell after ${counted(updates, 'update')}`;
      const numbers = evaluated ?? (trend && moved(trend));
      return `Unclear whether success ${finished ? 'changed' : 'changes'}${numbers ? `: ${numbers}` : ''}`;
    }
  }
}

/** Success in evaluation at first and now: greedy and, where it was measured, sampled. */
function evaluationNumbers({ before, now, sampled }: HeldOut): string {
  const change = (from: number, to: number) => `${percent(from)} → ${percent(to)}`;
  return `greedy ${change(before, now)}${sampled ? `, sampled ${change(sampled.before, sampled.now)}` : ''}`;
}

const MIN_VERDICT_UPDATES = 10; // with fewer, a change that may be chance is not put into the headline
const SOLVED = 0.995; // shown as 100 %
const SLOW_RISE = 0.1; // a smaller rise of success in 30 updates is called slow

/**
 * The means of the first and the last updates, the interval of the gain, and the smoothed value that the chart shows;
 * null if there are too few updates.
 */
function gainWords({ gain, updates, success }: RunSummary): string | null {
  if (!gain) return null;
  const { first, last, width, interval } = gain;
  return `${percent(first)} → ${percent(last)}, means of the first and last ${width} of ${updates} updates (${intervalText(interval, percentagePoints, ' points')}), now ${percent(success.now)} smoothed`;
}

function trendWords({ trend, drift, flat }: RunSummary): string {
  const shownTrend = drift ?? flat ?? trend;
  if (!shownTrend) return '';
  const { updates, change, interval } = shownTrend;
  return `; trend of the last ${updates} updates: ${percentagePoints(change)} points (${intervalText(interval, percentagePoints)})`;
}

/** Success in evaluation. If the evaluated tasks are a sample, with its exact interval. */
function heldOutWords({ kind, before, now, sampled, tasks, whole, interval }: HeldOut): string {
  const spread = interval ? ` (${intervalText(interval, (share) => String(Math.round(share * 100)), ' %')})` : '';
  const sampledText = sampled ? `, sampled: ${percent(sampled.before)} → ${percent(sampled.now)}` : '';
  return `${evaluationWords(tasks, kind, whole)} (greedy): ${percent(before)} → ${percent(now)}${spread}${sampledText}`;
}

function remarkOn(
  { state, heldOut, best, gain, drift, flat }: RunSummary,
  health: Health | null,
  finished: boolean,
): string {
  switch (state) {
    case 'trapped':
      return monitorSentence(health) ?? 'Rollouts of a task look alike, so there is little left to learn from.';
    case 'falling':
      if (heldOut?.fell && heldOut.changed !== 'less')
        return `${EVALUATION_WORDS[heldOut.kind].success} was ${percent(heldOut.best)} before.`;
      return `Its best was ${percent(best)}. Try a lower learning rate.`;
    case 'apart':
      return heldOut?.kind === 'all'
        ? 'Sampled rollouts get better, but greedy ones get worse.'
        : 'It gets better on training tasks and worse in evaluation.';
    case 'watched':
      return monitorSentence(health) ?? 'The monitor sees a first sign of trouble.';
    case 'solved':
      return 'Nearly every rollout succeeds, so there is little left to compare.';
    case 'unconfirmed':
      return heldOut && !heldOut.whole
        ? `It solves more training tasks. On ${heldOut.tasks} evaluated tasks the change may be chance.`
        : 'Training rollouts succeed more often, but evaluation shows no clear change.';
    case 'stalled':
      return `Success in training changed by less than five points over the last ${flat?.updates ?? 0} updates.`;
    case 'learning':
      if (heldOut && heldOut.changed !== 'more')
        return heldOut.sampledChanged === 'more'
          ? 'Sampled play solves more evaluated tasks. Greedy play shows no clear change.'
          : 'The gain is larger than chance explains.';
      if (!drift && gain && gain.interval.low > 0) return 'The last updates don’t show whether it still improves.';
      return heldOut ? `It now solves more tasks, in evaluation too.` : 'The gain is larger than chance explains.';
    case 'unclear':
      if (finished) return 'The change may be chance. Train longer, or try another seed.';
      return gain ? 'The change may be chance.' : 'Too few updates.';
  }
}

function monitorSentence(health: Health | null): string | undefined {
  const sign = health?.evidence.find(({ alarming }) => alarming) ?? health?.evidence[0];
  return sign && `The monitor: ${sign.text}`;
}

const STARTING_WORDS = 'Starting the engine …';

interface WaitingState {
  readonly starting: boolean;
  readonly paused: boolean; // neither training nor stepping
  readonly phase: Phase;
  readonly update: number; // updates done
  readonly done: number; // parts of the phase that are done
  readonly total: number;
  readonly secondsLeft: number | null; // seconds left in the phase
  readonly rollouts: number; // in a batch
}

/** What a run is doing, as long as there is too little data for a verdict. */
export function waitingWords({
  starting,
  paused,
  phase,
  update,
  done,
  total,
  secondsLeft,
  rollouts,
}: WaitingState): string {
  if (paused && phase === 'imitating') {
    const betweenSteps = Number.isInteger(done);
    return `Paused ${betweenSteps ? 'after' : 'in'} ${stepWords(done, total, betweenSteps)} of imitation. Run continues from here.`;
  }
  if (paused && phase !== 'idle') return `Paused in update ${update + 1}. Run continues from here.`;
  const amount = total > 1 ? ` ${done}/${total}` : '';
  const timeLeft = secondsLeft === null || secondsLeft < 1 ? '' : ` About ${duration(secondsLeft)} left.`;
  switch (phase) {
    case 'compiling':
      // on the CPU there are no shaders to compile
      return total > 0 ? `Compiling shaders${amount} …` : STARTING_WORDS;
    case 'imitating':
      return `Imitating demonstrations, ${stepWords(done, total)} …${timeLeft}`;
    case 'evaluating':
      return `Evaluating${amount}${update === 0 ? ', to compare with later' : ''} …${timeLeft}`;
    case 'sampling':
      return `Update ${update + 1}: sampling ${total > 1 ? `rollouts, ${done} of ${total} done` : `${rollouts} rollouts`} …`;
    case 'scoring':
      return `Update ${update + 1}: scoring every token …${timeLeft}`;
    case 'crediting':
      return `Update ${update + 1}: computing advantages …`;
    case 'reporting':
      return `Update ${update + 1}: reading numbers back …`;
    case 'updating':
      return `Update ${update + 1}: learning${amount} …${timeLeft}`;
    case 'idle':
      if (starting) return STARTING_WORDS;
      return update > 0
        ? `Update ${update} is done. A summary follows after a few more.`
        : 'A summary follows after a few updates.';
  }
}
