import { ALGORITHMS } from '../../config/algorithms.ts';
import type { RunConfig } from '../../config/fields.ts';
import { OBSERVATION_STATES, USUAL_OBSERVATION_LOSS } from '../../config/masks.ts';
import { selectHardestPushedObservation, selectLargestAdvantage, selectLongestEpisode } from './chapterActions.ts';
import type { ArmPlan, Exercise } from './exercise.ts';
import * as find from './findings.ts';

/** The catalogue of texts has its words under the chapter's id. */
interface Chapter {
  readonly id: string;
  readonly source: string; // files, and the source of the idea
  readonly exercises: readonly Exercise[];
}

/** Skips evaluation and the measure of dependence on input, which take longer than the updates, unless an arm needs them. */
const NO_MEASUREMENTS = { evalEvery: 0, miEvery: 0 } as const satisfies Partial<RunConfig>;
/** The KL is measured only if its weight is above 0. This weight is too small to affect the training. */
const NEGLIGIBLE_KL_WEIGHT = 1e-6;
/** Few rollouts, so that an update of a text model takes only seconds on the CPU. */
const FEW_ROLLOUTS = { prompts: 2, groupSize: 4, minibatches: 1 } as const satisfies Partial<RunConfig>;

const numberHuntArm = (set: Partial<RunConfig>, updates: number) =>
  ({ preset: 'number-hunt', set: { ...NO_MEASUREMENTS, ...set }, updates }) as const;

/** A search that is paid for its right answer alone. In number hunt the agent can't choose how many turns it takes. */
const answerPaidArm = (set: Partial<RunConfig>) =>
  ({ preset: 'multi-hop-grpo', set: { ...NO_MEASUREMENTS, processReward: 0, ...set }, updates: 10 }) as const;

/**
 * Two episodes of one question, paid for a right answer alone. With this seed one calls its tool twice and answers
 * right, and the other guesses at once and is wrong. So they have three rows and one.
 */
const TWO_EPISODES = {
  preset: 'multi-hop',
  set: {
    ...{ ...NO_MEASUREMENTS, seed: 660, rows: 'turn', prompts: 1, groupSize: 2, minibatches: 1 },
    ...{ estimator: 'grpo', critic: 'none', divideByStd: 'off', processReward: 0, turnCost: 0 },
  },
  updates: 1,
} as const satisfies ArmPlan;

export const CHAPTERS = [
  {
    id: 'rollout',
    source: 'src/rl/rollout.ts, src/gpu/kernels/decode_sample.wgsl',
    exercises: [
      {
        id: 'drawn',
        choices: ['under', 'middle', 'over'],
        arms: [],
        recordedUpdate: { preset: 'number-hunt', update: 1 },
        findingOf: find.drawnShare,
        ...{ headlineNumber: 'share', format: 'percent' },
        labView: { channel: 'mask' },
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
        arms: [{ preset: 'noisy-hunt', set: { ...NO_MEASUREMENTS, ...OBSERVATION_STATES.graded }, updates: 1 }],
        findingOf: find.pushedObservations,
        ...{ headlineNumber: 'pushed', format: 'count' },
        labView: { channel: 'gradient' },
        selectExample: selectHardestPushedObservation,
      },
      {
        id: 'loss',
        choices: ['none', 'some'],
        arms: [{ preset: 'noisy-hunt', set: { ...NO_MEASUREMENTS, lossMask: 'off' }, updates: 1 }],
        findingOf: find.pushedObservations,
        ...{ headlineNumber: 'pushed', format: 'count' },
        labView: { channel: 'gradient' },
      },
      {
        id: 'predicted',
        choices: ['up', 'both', 'none'],
        arms: [
          {
            preset: 'noisy-hunt',
            set: { ...NO_MEASUREMENTS, observationLoss: USUAL_OBSERVATION_LOSS },
            updates: 1,
          },
        ],
        findingOf: find.predictedObservations,
        ...{ headlineNumber: 'up', format: 'count' },
        labView: { channel: 'gradient' },
        selectExample: selectHardestPushedObservation,
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
        arms: [numberHuntArm({}, 1)],
        findingOf: find.groupSum,
        ...{ headlineNumber: 'sum', format: 'number' },
        labView: { channel: 'advantage' },
        selectExample: selectLargestAdvantage,
      },
    ],
  },
  {
    id: 'credit',
    source:
      'src/rl/advantages.ts, src/rl/credit.ts; GiGPO, arXiv 2505.10978; MT-GRPO, arXiv 2505.11821, verl #7244; prime-rl #3282',
    exercises: [
      {
        id: 'turns',
        choices: ['same', 'differ'],
        arms: [numberHuntArm(ALGORITHMS.gigpo.set, 1)],
        findingOf: find.advantagesWithinRollout,
        ...{ headlineNumber: 'differing', format: 'count' },
        labView: { channel: 'advantage' },
      },
      {
        id: 'bias',
        choices: ['more', 'same', 'fewer'],
        arms: [answerPaidArm(ALGORITHMS['turn-baseline'].set), answerPaidArm(ALGORITHMS['mt-grpo'].set)],
        findingOf: find.turnsTaken,
        ...{ headlineNumber: 'biased', format: 'number' },
        labView: { channel: 'advantage', curves: 'all' },
      },
      {
        id: 'progress',
        choices: ['same', 'another'],
        arms: [numberHuntArm(ALGORITHMS['turn-credit'].set, 1)],
        findingOf: find.averageOverTurns,
        ...{ headlineNumber: 'differing', format: 'count' },
        labView: { channel: 'advantage' },
      },
    ],
  },
  {
    id: 'rows',
    source: 'src/domain/tokenMasks.ts, sequenceOf; src/rl/credit.ts; SkyRL #1507, agent-lightning #489',
    exercises: [
      {
        id: 'broadcast',
        choices: ['lost', 'both', 'share'],
        arms: [TWO_EPISODES],
        findingOf: find.lastRowBroadcast,
        ...{ headlineNumber: 'bug', format: 'number' },
        labView: { channel: 'advantage' },
        selectExample: selectLongestEpisode,
      },
      {
        id: 'members',
        choices: ['lower', 'same', 'higher'],
        arms: [TWO_EPISODES],
        findingOf: find.turnsAsMembers,
        ...{ headlineNumber: 'biased', format: 'number' },
        labView: { channel: 'advantage' },
        selectExample: selectLongestEpisode,
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
        arms: [{ preset: 'number-hunt-ppo', set: NO_MEASUREMENTS, updates: 1 }],
        findingOf: find.advantagesWithinRollout,
        ...{ headlineNumber: 'differing', format: 'count' },
        labView: { channel: 'advantage' },
      },
      {
        id: 'explains',
        choices: ['more', 'less'],
        arms: [{ preset: 'number-hunt-ppo', set: NO_MEASUREMENTS, updates: 20 }],
        findingOf: find.explainedVariance,
        ...{ headlineNumber: 'after', format: 'number' },
        labView: { channel: 'value' },
      },
    ],
  },
  {
    id: 'clip',
    source: 'src/rl/objective.ts, surrogate; PPO, arXiv 1707.06347, eq. 7; arXiv 1912.09729; DPPO, arXiv 2602.04879',
    exercises: [
      {
        id: 'tight',
        choices: ['more', 'same', 'fewer'],
        arms: [numberHuntArm({}, 1), numberHuntArm({ clipLow: 0.02, clipHigh: 0.02 }, 1)],
        findingOf: find.moreClipped,
        ...{ headlineNumber: 'tight', format: 'percent' },
        labView: { channel: 'ratio' },
      },
      {
        id: 'moved',
        choices: ['more', 'same', 'fewer'],
        arms: [numberHuntArm({}, 1), numberHuntArm({ surrogate: 'dppo-tv' }, 1)],
        findingOf: find.moreClipped,
        ...{ headlineNumber: 'tight', format: 'percent' },
        labView: { channel: 'ratio' },
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
        arms: [numberHuntArm({ klCoef: NEGLIGIBLE_KL_WEIGHT }, 10), numberHuntArm({ klCoef: 0.5 }, 10)],
        findingOf: find.nearerToReference,
        ...{ headlineNumber: 'held', format: 'number' },
        labView: { channel: 'kl' },
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
        findingOf: find.spreadAfter,
        ...{ headlineNumber: 'after', format: 'number' },
        labView: { channel: 'mask', curves: 'health' },
      },
      {
        id: 'solved',
        choices: ['few', 'some', 'most'],
        arms: [],
        shipped: { experiment: 'echo-trap', arm: 'default' },
        findingOf: find.fallenSpreads,
        ...{ headlineNumber: 'fell', format: 'count' },
        labView: { channel: 'mask' },
      },
    ],
  },
  {
    id: 'process',
    source: 'src/envs/numberHunt.ts, src/rl/rollout.ts, src/rl/informationGain.ts; Agent-R1; IGPO, arXiv 2510.14967',
    exercises: [
      {
        id: 'flat',
        choices: ['more', 'fewer'],
        arms: [numberHuntArm({}, 1), numberHuntArm({ processReward: 0 }, 1)],
        findingOf: find.flatGroups,
        ...{ headlineNumber: 'unpaid', format: 'percent' },
        labView: { channel: 'reward' },
      },
      {
        id: 'information',
        choices: ['some', 'none'],
        arms: [numberHuntArm({ processReward: 0, informationReward: 1 }, 1)],
        findingOf: find.paidFailures,
        ...{ headlineNumber: 'paid', format: 'count' },
        labView: { channel: 'reward' },
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
          { preset: 'calculator', set: { ...NO_MEASUREMENTS, ...FEW_ROLLOUTS }, updates: 1 },
          { preset: 'calculator-text', set: { ...NO_MEASUREMENTS, ...FEW_ROLLOUTS }, updates: 1 },
        ],
        findingOf: find.timesLonger,
        ...{ headlineNumber: 'times', format: 'number' },
        labView: { channel: 'mask' },
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
        arms: [numberHuntArm({}, 3)],
        findingOf: find.slowerStage,
        ...{ headlineNumber: 'rollout', format: 'number' },
        labView: { channel: 'mask' },
      },
    ],
  },
] as const satisfies readonly Chapter[];

export type ChapterId = (typeof CHAPTERS)[number]['id'];

export function chapterNamed(id: string): (typeof CHAPTERS)[number] | undefined {
  return CHAPTERS.find((chapter) => chapter.id === id);
}

export function exerciseNamed(chapter: string, id: string): Exercise | undefined {
  const exercises: readonly Exercise[] | undefined = chapterNamed(chapter)?.exercises;
  return exercises?.find((exercise) => exercise.id === id);
}
