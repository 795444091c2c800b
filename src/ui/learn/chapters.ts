import type { RunConfig } from '../../config/fields.ts';
import { pointAtHardestPush, showStandingOut } from './chapterActions.ts';
import type { Exercise } from './exercise.ts';
import * as find from './findings.ts';
import { UNMASKED } from '../comparisons/recipes.ts';

/** A chapter: something to read, and exercises in the lab beside it. Its words stand in the catalogue of texts, under its id. */
interface Chapter {
  readonly id: string;
  readonly source: string; // files, and where the idea is from
  readonly exercises: readonly Exercise[];
}

/** What an arm leaves out where nothing asks for it: an evaluation and the measure of dependence on input take longer than the updates themselves. */
const BRIEF = { evalEvery: 0, miEvery: 0 } as const satisfies Partial<RunConfig>;
/** The KL is measured only where it is asked for: with this weight it pulls at nothing. */
const MEASURED_ONLY = 1e-6;
/** Few rollouts, so that an update of a model of text takes seconds on the CPU. */
const FEW_ROLLOUTS = { prompts: 2, groupSize: 4, minibatches: 1 } as const satisfies Partial<RunConfig>;

const hunt = (set: Partial<RunConfig>, updates: number) =>
  ({ preset: 'number-hunt', set: { ...BRIEF, ...set }, updates }) as const;

/** The chapters, in the order they are read. */
export const CHAPTERS = [
  {
    id: 'rollout',
    source: 'src/rl/rollout.ts, src/gpu/kernels/decode_sample.wgsl',
    exercises: [
      {
        id: 'drawn',
        choices: ['under', 'middle', 'over'],
        arms: [],
        reads: { preset: 'number-hunt', update: 1 },
        find: find.drawnShare,
        ...{ headline: 'share', format: 'percent' },
        look: { channel: 'mask' },
      },
    ],
  },
  {
    id: 'mask',
    source: 'src/domain/tokenMasks.ts, responseMask; Agent-R1: action mask, verl: response mask',
    exercises: [
      {
        id: 'both',
        choices: ['none', 'some'],
        arms: [{ preset: 'noisy-hunt', set: { ...BRIEF, ...UNMASKED }, updates: 1 }],
        find: find.pushedWords,
        ...{ headline: 'pushed', format: 'count' },
        look: { channel: 'gradient' },
        point: pointAtHardestPush,
      },
      {
        id: 'loss',
        choices: ['none', 'some'],
        arms: [{ preset: 'noisy-hunt', set: { ...BRIEF, lossMask: 'off' }, updates: 1 }],
        find: find.pushedWords,
        ...{ headline: 'pushed', format: 'count' },
        look: { channel: 'gradient' },
      },
    ],
  },
  {
    id: 'advantage',
    source: 'src/rl/advantages.ts, groupRelative; GRPO, arXiv 2402.03300, §4.1.2',
    exercises: [
      {
        id: 'sum',
        choices: ['positive', 'zero', 'negative'],
        arms: [hunt({}, 1)],
        find: find.groupSum,
        ...{ headline: 'sum', format: 'number' },
        look: { channel: 'advantage' },
        point: showStandingOut,
      },
    ],
  },
  {
    id: 'critic',
    source: 'src/rl/advantages.ts, gae; arXiv 1506.02438, eq. 16',
    exercises: [
      {
        id: 'within',
        choices: ['same', 'differ'],
        arms: [{ preset: 'number-hunt-ppo', set: BRIEF, updates: 1 }],
        find: find.alikeWithin,
        ...{ headline: 'differing', format: 'count' },
        look: { channel: 'advantage' },
      },
      {
        id: 'explains',
        choices: ['more', 'less'],
        arms: [{ preset: 'number-hunt-ppo', set: BRIEF, updates: 20 }],
        find: find.explained,
        ...{ headline: 'after', format: 'number' },
        look: { channel: 'value' },
      },
    ],
  },
  {
    id: 'clip',
    source: 'src/rl/objective.ts, surrogate; PPO, arXiv 1707.06347, eq. 7; arXiv 1912.09729',
    exercises: [
      {
        id: 'tight',
        choices: ['more', 'same', 'fewer'],
        arms: [hunt({}, 1), hunt({ clipLow: 0.02, clipHigh: 0.02 }, 1)],
        find: find.moreClipped,
        ...{ headline: 'tight', format: 'percent' },
        look: { channel: 'ratio' },
      },
    ],
  },
  {
    id: 'kl',
    source: 'src/rl/objective.ts, klEstimate; J. Schulman, “Approximating KL divergence”',
    exercises: [
      {
        id: 'held',
        choices: ['nearer', 'further'],
        arms: [hunt({ klCoef: MEASURED_ONLY }, 10), hunt({ klCoef: 0.5 }, 10)],
        find: find.nearer,
        ...{ headline: 'held', format: 'number' },
        look: { channel: 'kl' },
      },
    ],
  },
  {
    id: 'trap',
    source: 'src/rl/monitor.ts (with the monitor’s other signs); RAGEN, arXiv 2504.20073',
    exercises: [
      {
        id: 'spread',
        choices: ['stays', 'falls'],
        arms: [{ preset: 'break-it', set: { evalEvery: 0 }, updates: 40 }],
        find: find.spreadAfter,
        ...{ headline: 'after', format: 'number' },
        look: { channel: 'mask', curves: 'health' },
      },
      {
        id: 'solved',
        choices: ['few', 'some', 'most'],
        arms: [],
        shipped: { experiment: 'echo-trap', arm: 'default' },
        find: find.fallenSpreads,
        ...{ headline: 'fell', format: 'count' },
        look: { channel: 'mask' },
      },
    ],
  },
  {
    id: 'process',
    source: 'src/envs/numberHunt.ts, src/rl/rollout.ts; Agent-R1',
    exercises: [
      {
        id: 'flat',
        choices: ['more', 'fewer'],
        arms: [hunt({}, 1), hunt({ processReward: 0 }, 1)],
        find: find.flatGroups,
        ...{ headline: 'unpaid', format: 'percent' },
        look: { channel: 'reward' },
      },
    ],
  },
  {
    id: 'text',
    source: 'src/text, src/envs/stepper.ts; the calls are Qwen’s and Hermes’ form',
    exercises: [
      {
        id: 'longer',
        choices: ['two', 'five', 'over'],
        arms: [
          { preset: 'calculator', set: { ...BRIEF, ...FEW_ROLLOUTS }, updates: 1 },
          { preset: 'calculator-text', set: { ...BRIEF, ...FEW_ROLLOUTS }, updates: 1 },
        ],
        find: find.timesLonger,
        ...{ headline: 'times', format: 'number' },
        look: { channel: 'mask' },
      },
    ],
  },
  {
    id: 'kernels',
    source: 'src/gpu/kernels, src/model/gpu; src/model/cpu',
    exercises: [
      {
        id: 'stages',
        choices: ['rollout', 'learn'],
        arms: [hunt({}, 3)],
        find: find.slowerStage,
        ...{ headline: 'rollout', format: 'number' },
        look: { channel: 'mask' },
      },
    ],
  },
] as const satisfies readonly Chapter[];

export type ChapterId = (typeof CHAPTERS)[number]['id'];

/** The chapter of that id; undefined if there is none. */
export function chapterNamed(id: string): (typeof CHAPTERS)[number] | undefined {
  return CHAPTERS.find((chapter) => chapter.id === id);
}

/** An exercise by its chapter's id and its own; undefined if there is none. */
export function exerciseNamed(chapter: string, id: string): Exercise | undefined {
  const exercises: readonly Exercise[] | undefined = chapterNamed(chapter)?.exercises;
  return exercises?.find((exercise) => exercise.id === id);
}
