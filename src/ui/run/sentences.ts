import type { Health } from '../../domain/health.ts';
import type { Phase } from '../../domain/trainingEvent.ts';
import type { Course, CourseState, HeldOut } from './course.ts';
import { EVALUATED_WORDS } from '../../domain/evaluated.ts';
import { duration, percent, points } from '../parts/format.ts';
import { stepWords } from './stepWords.ts';

/** The first word of a headline, told apart without reading on. */
const COURSE_WORDS: Readonly<Record<CourseState, string>> = {
  trapped: 'Trapped',
  falling: 'Falling',
  apart: 'Falling on evaluated tasks',
  watched: 'Watch it',
  solved: 'Solved, nearly',
  stalled: 'Stalled',
  learning: 'Learning',
  unclear: 'Cannot tell yet',
};

/** How a run goes, in a word and a remark, and the numbers that rests on. */
export interface CourseWords {
  readonly verdict: string;
  readonly numbers: string; // an interval is of the two that it stands beside
}

/** The same in one line. */
export function courseSentence(course: Course, health: Health | null, finished: boolean): string {
  const { verdict, numbers } = courseWords(course, health, finished);
  return `${verdict} ${numbers}`;
}

/** What is said of a course. */
export function courseWords(course: Course, health: Health | null, finished: boolean): CourseWords {
  const { state, updates, success, heldOut } = course;
  const tasks = EVALUATED_WORDS[heldOut?.kind ?? 'mixed'].tasks;
  const learned = course.gain !== null && course.gain.interval.low > 0;
  const stalled = learned ? 'Learned, then stalled' : COURSE_WORDS.stalled;
  const words = { ...COURSE_WORDS, apart: `Falling on ${tasks}`, stalled };
  const word = finished
    ? `Finished: ${words[state].replace(' yet', '').replace('Learning', 'learned').toLowerCase()}`
    : words[state];
  const numbers = `Success ${percent(success.before)} → ${percent(success.now)} in ${updates} updates${gainWords(course)}`;
  return {
    verdict: `${word}. ${remark(course, health, finished)}`,
    numbers: `${[numbers, ...(heldOut ? [heldOutWords(heldOut)] : [])].join('; ')}.`,
  };
}

/** The curve is smoothed, an interval is of means: it stands beside its own. */
function gainWords({ gain }: Course): string {
  if (!gain) return '';
  const { first, last, width, interval } = gain;
  return ` (means of the first and last ${width}: ${percent(first)} → ${percent(last)}, ${points(interval.low)} to ${points(interval.high)} points)`;
}

/** Success on what is evaluated with its exact interval, for as many tasks as are different. */
function heldOutWords({ kind, before, now, tasks, interval }: HeldOut): string {
  const between = `${Math.round(interval.low * 100)} to ${percent(interval.high)}`;
  return `${kind === 'all' ? 'of all tasks' : kind === 'held-out' ? 'held-out' : 'evaluated'} ${percent(before)} → ${percent(now)} of ${tasks} different tasks (95 %: ${between})`;
}

function remark({ state, success, heldOut, best, gain }: Course, health: Health | null, finished: boolean): string {
  switch (state) {
    case 'trapped':
      return alarm(health) ?? 'Attempts at a task have grown alike: there is little left to learn from.';
    case 'falling':
      if (heldOut?.fell && heldOut.changed !== 'less')
        return `${EVALUATED_WORDS[heldOut.kind].success} was ${percent(heldOut.best)} before.`;
      return best - success.now > 0.1
        ? `It was ${percent(best)} at its best: try a lower learning rate.`
        : 'It does worse than where it began: try a lower learning rate.';
    case 'apart':
      return heldOut?.kind === 'all'
        ? 'Its rollouts get better, and what it does greedily gets worse.'
        : 'It gets better at the tasks it trains on and worse at those it does not see.';
    case 'watched':
      return alarm(health) ?? 'The monitor sees the first signs of a trap.';
    case 'solved':
      return 'Nearly every attempt succeeds, so there is little left to compare.';
    case 'stalled':
      return 'The last thirty updates moved it by less than ten points.';
    case 'learning':
      if (heldOut?.changed === 'unclear') {
        return `It solves more of the tasks it trains on. Only ${heldOut.tasks} different tasks are evaluated: too few to be sure of those.`;
      }
      return heldOut
        ? `More is solved, of ${EVALUATED_WORDS[heldOut.kind].tasks} too.`
        : 'It solves more, and by more than chance explains.';
    case 'unclear':
      if (finished) return 'The change lies within what chance makes: more updates, or another seed.';
      return gain ? 'The change lies within what chance makes.' : 'Too few updates.';
  }
}

function alarm(health: Health | null): string | undefined {
  const sign = health?.evidence.find(({ alarming }) => alarming) ?? health?.evidence[0];
  return sign && `The monitor: ${sign.text}`;
}

const STARTING_WORDS = 'Starting the engine …';

interface Waited {
  readonly starting: boolean;
  readonly still: boolean; // neither training nor at a step
  readonly phase: Phase;
  readonly update: number; // done so far
  readonly done: number; // parts of the phase
  readonly total: number;
  readonly left: number | null; // seconds of the phase
  readonly rollouts: number; // of a batch
}

/** What a run is at before there is anything to judge. */
export function waitingWords({ starting, still, phase, update, done, total, left, rollouts }: Waited): string {
  if (still && phase === 'imitating') {
    const between = Number.isInteger(done);
    return `Paused ${between ? 'after' : 'in'} ${stepWords(done, total, between)} of the imitation. It goes on where it stands.`;
  }
  if (still && phase !== 'idle') return `Paused in update ${update + 1}. It goes on where it stands.`;
  const amount = total > 1 ? ` ${done}/${total}` : '';
  const rest = left === null || left < 1 ? '' : ` About ${duration(left)} left of it.`;
  switch (phase) {
    case 'compiling':
      // on the CPU there are no shaders to compile
      return total > 0 ? `Compiling shaders${amount} …` : STARTING_WORDS;
    case 'warm-start':
      return `Warm start: imitating demonstrations${amount} …`;
    case 'imitating':
      return `Imitating demonstrations: ${stepWords(done, total)} …${rest}`;
    case 'evaluating':
      return `Evaluating${amount}${update === 0 ? ', to compare with later' : ''} …${rest}`;
    case 'sampling':
      return `Update ${update + 1}: sampling ${total > 1 ? `rollouts, ${done} of ${total} are over` : `${rollouts} rollouts`} …`;
    case 'scoring':
      return `Update ${update + 1}: scoring every token …${rest}`;
    case 'crediting':
      return `Update ${update + 1}: crediting tokens …`;
    case 'reporting':
      return `Update ${update + 1}: reading numbers back …`;
    case 'updating':
      return `Update ${update + 1}: learning${amount} …${rest}`;
    case 'idle':
      if (starting) return STARTING_WORDS;
      return update > 0
        ? `Update ${update} is done. The verdict comes after a few.`
        : 'The verdict comes after a few updates.';
  }
}
