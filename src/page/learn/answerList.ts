import { OBSERVATION_STATES } from '../../config/masks.ts';
import type { RunConfig } from '../../config/fields.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { PresetName } from '../../config/presets.ts';
import type { Answer, Trial } from './answer.ts';
import { deadGroups, type Reading, readings } from './answerFindings.ts';
import { selectHardestPushedObservation } from './chapterActions.ts';

/** Nothing but training: evaluations take longer than the updates. */
const NO_MEASUREMENTS = { evalEvery: 0, miEvery: 0 } as const satisfies Partial<RunConfig>;
/** A KL, entropy or policy loss below this is rounding. */
const ROUNDING = 1e-6;

/** The readings of a metric before and after training, and those of success. */
const ends = <Metric extends MetricName>(metric: Metric) =>
  ({ first: [metric, 'first'], last: [metric, 'last'] }) as const;
const SUCCESS = { before: ['rollout/success', 'first'], after: ['rollout/success', 'last'] } as const;
const CALLS = ['tool_call_counts/mean', 'last'] as const;

/** With them and one optimizer step, the policy loss is minus the mean advantage. */
const TRL_FORMER_DEFAULTS = { aggregation: 'seq-mean-token-mean', critic: 'none', entropyCoef: 0 } as const;
const LOSS_READINGS = { loss: ['actor/pg_loss', 'largest'], norm: ['actor/grad_norm', 'mean'], ...SUCCESS } as const;

/** Nothing is paid, so the rewards of every group are equal. */
const UNPAID = { outcomeReward: 0, processReward: 0, invalidPenalty: 0 } as const;
const FLAT_READINGS = {
  flat: ['rollout/zero_std_groups', 'mean'],
  norm: ['actor/grad_norm', 'mean'],
  before: ['rollout/entropy', 'first'],
  after: ['rollout/entropy', 'last'],
} as const;

/** Share of flat groups, from which on little is left to learn from. */
const FEW_FLAT = 0.25;
const ENTROPY_READINGS = { ...ends('rollout/entropy'), flat: ['rollout/zero_std_groups', 'last'], ...SUCCESS } as const;
const CALL_READINGS = { ...ends('tool_call_counts/mean'), ...SUCCESS };
const TURN_READINGS = { flat: ['rollout/zero_std_groups', 'first'], calls: CALLS, ...SUCCESS } as const;
const SCORE = 'reward_model/score';
const HACK_READINGS = { ...ends(SCORE), since: [SCORE, 'halfway'], calls: CALLS, ...SUCCESS } as const;
const ROW_READINGS = {
  tokens: ['engine/trained_tokens', 'mean'],
  computed: ['engine/computed_tokens', 'mean'],
  ...SUCCESS,
} as const;
const STALE_READINGS = {
  kl: ['rollout_corr/kl', 'last'],
  size: ['rollout_corr/rollout_is_eff_sample_size', 'last'],
  ...SUCCESS,
} as const;
const SHARE_READINGS = { share: ['mask/observation_share', 'last'] } as const;

const WENT = 'Success went from {before:percent} to {after:percent}.';
const ENTROPY_SEEN = `Entropy went from {first:number} to {last:number} nats, and {flat:percent} of the groups were flat at the end. ${WENT}`;
const OVERFIT_SEEN =
  'Training success went from {before:percent} to {after:percent}. On reversed names it was {first:percent} before and {last:percent} after.';
const CALL_SEEN = `Calls per rollout went from {first:number} to {last:number}. ${WENT}`;
const TURN_SEEN = `{flat:percent} of the groups were flat at first. At the end there were {calls:number} calls per rollout. ${WENT}`;
const ROW_SEEN = `An update trained on {tokens:count} tokens. This engine computed {computed:count} of them, because it shares equal beginnings. ${WENT}`;
const SHARE_SEEN = '{share:percent} of the update was spent on the tool’s words.';
const STALE_SEEN = `KL between sampler and learner was {kl:number} nats, the effective sample size {size:percent}. ${WENT}`;
const GROUPS = {
  seen: '{dead:percent} of the groups were dead at a success rate of {rate:percent}. The calculator says {predicted:percent}.',
  metrics: ['rollout/zero_std_groups', 'rollout/success'],
} as const;

type Arms = Trial['arms'];
const armOn = (preset: PresetName, set: Partial<RunConfig>, updates: number): Arms => [
  { preset, set: { ...NO_MEASUREMENTS, ...set }, updates },
];
const hunt = (set: Partial<RunConfig>, updates: number) => armOn('number-hunt', set, updates);
const search = (set: Partial<RunConfig>, updates = 40) => armOn('multi-hop-grpo', set, updates);
/** Evaluated before and after training; what differs from training only at the last update of a run. */
const banditArm = (preset: 'bandit' | 'bandit-reversed') =>
  armOn(preset, { evaluation: 'full', evalEvery: 40, updates: 40 }, 40);

const trialsOf = (
  shared: Pick<Trial, 'labView' | 'selectExample'>,
  own: readonly Omit<Trial, 'labView'>[],
): readonly Trial[] => own.map((each) => ({ ...shared, ...each }));
function trial<Name extends string>(
  id: string,
  button: string,
  arms: Arms,
  wanted: Readonly<Record<Name, Reading>>,
  isShown: (numbers: Readonly<Record<Name, number>>) => boolean,
  seen: string,
): Omit<Trial, 'labView'> {
  const metrics = [...new Set(Object.values<Reading>(wanted).map(([metric]) => metric))];
  return { id, button, arms, metrics, findingOf: readings(wanted, isShown), seen };
}

/** Twelve questions of public issue threads, in the order of the list. */
export const ANSWERS = [
  {
    id: 'loss-zero',
    question: 'Why is my loss 0?',
    text: [
      'GRPO subtracts a group’s mean reward, so its advantages add up to 0. On the first optimizer step of a batch the ratio is 1. If rollouts count equally, the policy loss is minus the mean advantage, and that is 0. Its gradient isn’t: tokens of good rollouts are pushed up, those of bad ones down.',
      'So don’t read progress from this loss. Read the reward and the gradient norm. If the gradient norm is 0 as well, look at the reward spread in the groups.',
    ],
    // prettier-ignore
    trials: trialsOf({ labView: { channel: 'gradient' } }, [
      trial('illness', 'One step per batch: loss 0', hunt({ ...TRL_FORMER_DEFAULTS, epochs: 1, minibatches: 1 }, 30), LOSS_READINGS, ({ loss, norm }) => loss < ROUNDING && norm > 0.01, `The policy loss was never above {loss:number}, but the gradient norm was {norm:number}. ${WENT}`),
      trial('cure', 'Four steps per batch: loss not 0', hunt({ ...TRL_FORMER_DEFAULTS, epochs: 2, minibatches: 2 }, 30), LOSS_READINGS, ({ loss, norm }) => loss > ROUNDING && norm > 0.01, `The policy loss was up to {loss:number}, because from the second step on the ratio isn’t 1. ${WENT}`),
    ]),
    knobs: ['epochs', 'minibatches', 'aggregation', 'klCoef'],
    limits:
      'With a mean over tokens, long rollouts weigh more, so the loss is small but not 0. A KL term adds its own value.',
    threads: ['huggingface/trl#3452', 'huggingface/trl#3857', 'unslothai/unsloth#2291'],
  },
  {
    id: 'flat-groups',
    question: 'Do groups whose rewards are all equal still get a gradient?',
    text: [
      'From the policy loss they don’t: their advantages are 0. But KL and entropy are added for every token, whatever the advantage. Where most groups are flat, these terms alone move the policy.',
      'Here nothing is paid at all, so every group is flat.',
    ],
    // prettier-ignore
    trials: trialsOf({ labView: { channel: 'entropy' } }, [
      trial('illness', 'Pay nothing, keep the entropy bonus', search({ ...UNPAID, entropyCoef: 0.05 }, 30), FLAT_READINGS, ({ flat, norm, before, after }) => flat === 1 && norm > 0 && after > before, '{flat:percent} of the groups were flat, but the gradient norm was {norm:number}. Entropy rose from {before:number} to {after:number} nats.'),
      trial('cure', 'Without the entropy bonus', search({ ...UNPAID, entropyCoef: 0 }, 10), FLAT_READINGS, ({ flat, norm }) => flat === 1 && norm === 0, '{flat:percent} of the groups were flat, and the gradient norm was {norm:number}. The policy didn’t change.'),
    ]),
    knobs: ['entropyCoef', 'klCoef', 'filter'],
    limits:
      'In a real run only some groups are flat. A filter drops them; then their tokens get no entropy and no KL gradient either. TRL has no such filter.',
    threads: ['huggingface/trl#5588', 'huggingface/trl#7068', 'huggingface/trl#6365'],
  },
  {
    id: 'group-size',
    question: 'How large must a group be?',
    text: [
      'A group teaches only if its rewards differ. With rewards of 0 and 1 and success rate p, a group of G rollouts is all right with probability pᴳ and all wrong with probability (1 − p)ᴳ. Both are dead.',
      'The spread is the expected standard deviation of a group’s rewards. It’s largest at p = ½.',
    ],
    hasCalculator: true,
    // prettier-ignore
    trials: trialsOf({ labView: { channel: 'advantage' } }, [
      { ...GROUPS, id: 'illness', button: '64 groups of 2', arms: hunt({ processReward: 0, groupSize: 2, prompts: 64 }, 3), findingOf: deadGroups(({ dead }) => dead > FEW_FLAT) },
      { ...GROUPS, id: 'cure', button: '8 groups of 16: as many rollouts', arms: hunt({ processReward: 0, groupSize: 16, prompts: 8 }, 3), findingOf: deadGroups(({ dead }) => dead < FEW_FLAT) },
    ]),
    knobs: ['groupSize', 'prompts', 'filter'],
    limits:
      'The formula has one success rate for all prompts. Real prompts differ, and then more groups are dead than it says. Larger groups at the same cost mean fewer prompts.',
    threads: ['jsboige/CoursIA#10603'],
    links: [{ label: 'Experiment: group size, turns, epochs', href: '#/experiments?experiment=rollout-shaping' }],
  },
  {
    id: 'entropy',
    question: 'Why does entropy collapse, or rise?',
    text: [
      'Entropy says how undecided the agent is at a token. Learning lowers it: good tokens become likelier. An entropy bonus raises it. If the bonus outweighs the reward, the agent becomes more random and stops learning.',
    ],
    // prettier-ignore
    trials: trialsOf({ labView: { channel: 'entropy' } }, [
      trial('illness', 'No bonus: it collapses', search({ entropyCoef: 0 }), ENTROPY_READINGS, ({ first, last, flat }) => last < first / 2 && flat > FEW_FLAT, ENTROPY_SEEN),
      trial('rise', 'Bonus 0.3: it rises', search({ entropyCoef: 0.3 }), ENTROPY_READINGS, ({ first, last }) => last > first, ENTROPY_SEEN),
      trial('cure', 'Bonus 0.1: in between', search({ entropyCoef: 0.1 }), ENTROPY_READINGS, ({ first, last, flat }) => last < first && flat < FEW_FLAT, ENTROPY_SEEN),
    ]),
    knobs: ['entropyCoef', 'clipHigh', 'temperature'],
    limits:
      'Falling entropy isn’t bad by itself: an agent that has learned its task is sure of it. With a bonus of 0.1, seed 8 learned to look facts up: its entropy fell to 0.15 and success rose to 60 %. Seeds 7 and 9 stayed at 18 %. Entropy is bad news if groups become flat while success is still low.',
    threads: ['verl-project/verl#2738', 'verl-project/verl#5953', 'rllm-org/rllm#116'],
  },
  {
    id: 'overfit',
    question: 'Why does training rise while validation falls?',
    text: [
      'The agent learns whatever predicts the reward in its training tasks. If that doesn’t hold in the validation tasks, they get worse.',
      'This bandit has two named arms, and the agent learns which names pay. The validation tasks have the same names with their roles reversed.',
    ],
    // prettier-ignore
    trials: trialsOf({ labView: { channel: 'advantage' } }, [
      trial('illness', 'Train on names that mislead', banditArm('bandit'), { ...SUCCESS, ...ends('eval/success_shifted') }, ({ before, after, first, last }) => after > before && last <= first, OVERFIT_SEEN),
      trial('cure', 'Train on tasks like the validation tasks', banditArm('bandit-reversed'), { ...SUCCESS, ...ends('eval/success') }, ({ before, after, first, last }) => after > before && last > first, OVERFIT_SEEN),
    ]),
    knobs: ['env', 'evalEvery'],
    limits:
      'A bandit with four pairs of names is an extreme case: nothing but the name can be learned. In your run the misleading cue may be a format, a length or a data set. The other cause is a collapse: see the Echo Trap.',
    threads: ['AgentR1/Agent-R1#8', 'PeterGriffinJin/Search-R1#88', 'rllm-org/rllm#143'],
    links: [{ label: 'Chapter: the Echo Trap', href: '#/learn/trap' }],
  },
  {
    id: 'tool-calls',
    question: 'Why do tool calls vanish during training?',
    text: [
      'A call costs something and pays off only if the answer then is right. Early in training the answer is mostly wrong. GRPO compares rollouts of one prompt: among failures, the one with the fewest calls has the highest reward, and it’s reinforced.',
    ],
    // prettier-ignore
    trials: trialsOf({ labView: { channel: 'reward' } }, [
      trial('illness', 'Each turn costs 0.1', search({ turnCost: 0.1, processReward: 0 }), CALL_READINGS, ({ first, last }) => last < first / 2, CALL_SEEN),
      trial('cure', 'Turns cost nothing', search({ turnCost: 0, processReward: 0 }), CALL_READINGS, ({ first, last }) => last > first, CALL_SEEN),
    ]),
    knobs: ['turnCost', 'callReward', 'divideByStd'],
    limits:
      'In verl and TRL the reward is your own function: look there for penalties on length and turns. Keeping the calls isn’t enough: on seed 9 success stayed low. Not dividing by the std didn’t help here. A small reward for the first call helps a language model that calls nothing.',
    threads: ['verl-project/verl#1569', 'verl-project/verl#4998', 'axon-rl/gem#39'],
  },
  {
    id: 'turn-reward',
    question: 'Should reward come at each turn, or at the end?',
    text: [
      'With GRPO it makes no difference where it’s paid: rewards of all turns are added up, and each token of the rollout gets the same advantage. It matters how much is paid for what. A critic gives credit to the turns that were paid, and so do estimators that compare turns with turns.',
      'A reward for progress gives a group something to compare while nobody succeeds yet. If it can be had without success, the agent may collect it.',
    ],
    // prettier-ignore
    trials: trialsOf({ labView: { channel: 'reward' } }, [
      trial('illness', 'Pay only the right answer', search({ processReward: 0 }), TURN_READINGS, ({ flat }) => flat > FEW_FLAT, TURN_SEEN),
      trial('cure', 'Pay each useful look-up, too', search({ processReward: 0.5 }), TURN_READINGS, ({ flat }) => flat < FEW_FLAT, TURN_SEEN),
    ]),
    knobs: ['processReward', 'estimator', 'gamma', 'lambda'],
    limits:
      'Three seeds don’t rank the two: success ended at 44, 16 and 8 % with the reward at the end, and at 29, 66 and 24 % with look-ups paid. On seeds 7 and 9 the agent that was paid for look-ups made three of them in nearly every rollout.',
    threads: ['verl-project/verl#7244', 'NovaSky-AI/SkyRL#201', 'PrimeIntellect-ai/verifiers#1554'],
    links: [
      { label: 'Chapter: process reward', href: '#/learn/process' },
      { label: 'Experiment: dense and sparse reward', href: '#/experiments?experiment=observations' },
      { label: 'Experiment: credit by turn', href: '#/experiments?experiment=turn-credit' },
    ],
  },
  {
    id: 'rows',
    question: 'Is an episode one row of training, or one row per turn?',
    text: [
      'One row per episode trains each token once. One row per turn lets you change what the agent sees, for example drop old turns. Then the beginning of the episode is in many rows, so there is more to compute unless shared beginnings are computed once.',
      'Either way an episode must count once in its group. If each turn counts as a member, long episodes dominate the mean.',
    ],
    // prettier-ignore
    trials: trialsOf({ labView: { channel: 'mask' } }, [
      trial('illness', 'One row per turn, all turns shown', hunt({ rows: 'turn' }, 20), ROW_READINGS, ({ tokens }) => tokens > 8000, ROW_SEEN),
      trial('last', 'One row per turn, only the last turn shown', hunt({ rows: 'turn', shown: 'last-turns', shownTurns: 1 }, 20), ROW_READINGS, ({ tokens }) => tokens > 6000, ROW_SEEN),
      trial('cure', 'One row per episode', hunt({ rows: 'episode' }, 20), ROW_READINGS, ({ tokens }) => tokens < 6000, ROW_SEEN),
    ]),
    knobs: ['rows', 'shown', 'shownTurns'],
    limits: 'Three short runs don’t rank the three. The experiment has two tasks and eight seeds.',
    threads: [
      'verl-project/verl#5375',
      'microsoft/agent-lightning#489',
      'NovaSky-AI/SkyRL#1507',
      'PrimeIntellect-ai/verifiers#170',
    ],
    links: [{ label: 'Experiment: rows', href: '#/experiments?experiment=rows' }],
  },
  {
    id: 'observations',
    question: 'Should tool outputs be trained on?',
    text: [
      'Not by the policy loss. The agent didn’t write these tokens, so rewarding or punishing them teaches nothing about acting, and they take a part of every step. The loss mask leaves them out.',
      'Predicting them is another matter: a cross-entropy with a small weight (ECHO) doesn’t depend on the reward.',
    ],
    // prettier-ignore
    trials: trialsOf({ labView: { channel: 'gradient' }, selectExample: selectHardestPushedObservation }, [
      trial('illness', 'Both masks off, one update', armOn('noisy-hunt', OBSERVATION_STATES.graded, 1), SHARE_READINGS, ({ share }) => share > 0, SHARE_SEEN),
      trial('cure', 'Both masks on, one update', armOn('noisy-hunt', {}, 1), SHARE_READINGS, ({ share }) => share === 0, SHARE_SEEN),
    ]),
    knobs: ['lossMask', 'advantageMask', 'observationLoss'],
    limits:
      'How much it hurts depends on the share of tool tokens. With two epochs and 40 updates, number hunt with filler words solved 20 points less without masks (eight seeds, 95 % interval −30 to −10); after 100 updates the difference may be chance.',
    threads: ['huggingface/OpenEnv#819', 'rllm-org/rllm#668', 'NovaSky-AI/SkyRL#1716'],
    links: [
      { label: 'Chapter: the masks', href: '#/learn/mask' },
      { label: 'Experiment: mask ablation', href: '#/experiments?experiment=ablation' },
      { label: 'Experiment: observation loss', href: '#/experiments?experiment=observations' },
    ],
  },
  {
    id: 'staleness',
    question: 'How stale may rollouts be?',
    text: [
      'Asynchronous trainers learn from rollouts that older weights drew. The older they are, the further they are from the policy that learns. The effective sample size says how much of the batch still counts: 100 % if learner and sampler are the same.',
    ],
    // prettier-ignore
    trials: trialsOf({ labView: { channel: 'mismatch' } }, [
      trial('illness', 'Rollouts 8 updates old', hunt({ staleness: 8 }, 20), STALE_READINGS, ({ kl, size }) => kl > 0.05 && size < 0.9, STALE_SEEN),
      trial('corrected', 'The same with a truncated correction', hunt({ staleness: 8, correction: 'truncated' }, 20), STALE_READINGS, ({ kl, size }) => kl > 0.05 && size < 0.9, STALE_SEEN),
      trial('cure', 'Rollouts 1 update old', hunt({ staleness: 1 }, 20), STALE_READINGS, ({ kl, size }) => kl < 0.05 && size > 0.9, STALE_SEEN),
    ]),
    knobs: ['staleness', 'correction', 'learningRate'],
    limits:
      'The learning rate sets how far the weights move in an update, so a limit in updates doesn’t carry over. Watch KL and effective sample size. The experiment has eight seeds.',
    threads: ['marin-community/marin#8955', 'thinking-machines-lab/tinker-cookbook#822', 'THUDM/slime#1800'],
    links: [{ label: 'Experiment: staleness', href: '#/experiments?experiment=staleness' }],
  },
  {
    id: 'hacked',
    question: 'Is my reward being hacked?',
    text: [
      'Compare the reward that is trained with a measure that isn’t. If one rises and the other doesn’t, look for the part of the reward that moves.',
      'Here a reward model pays. It learned from a labeller who likes tool calls as much as right answers.',
    ],
    // prettier-ignore
    trials: trialsOf({ labView: { channel: 'reward' } }, [
      trial('illness', 'Train on the reward model alone', armOn('rlhf-hack', {}, 20), HACK_READINGS, ({ first, last, before, after }) => last > first + 1 && after < before + 0.05, `The reward model’s score moves it: from {first:number} to {last:number}, halfway at update {since:count}. There were {calls:number} calls per rollout at the end. ${WENT}`),
      trial('cure', 'With a KL penalty of 0.5', armOn('rlhf', {}, 20), HACK_READINGS, ({ first, last }) => last < first + 1, `The score went from {first:number} to {last:number}. There were {calls:number} calls per rollout at the end. ${WENT}`),
    ]),
    knobs: ['klCoef', 'rewardModel', 'preferenceReward'],
    limits:
      'The KL penalty only slows it down: the reward still pays for calls. In the experiment with eight seeds success falls from .18 to .09 without it and stays at .18 with it. The real cure is a better reward.',
    threads: ['OpenRLHF/OpenRLHF#1263', 'verl-project/verl#7004'],
    links: [{ label: 'Experiment: preferences', href: '#/experiments?experiment=preferences' }],
  },
  {
    id: 'sft-first',
    question: 'SFT first? And is RL needed at all?',
    text: [
      'RL can only reinforce what the agent sometimes does. If no rollout solves the task, there is nothing to compare. A short imitation (SFT) brings it to where some rollouts succeed. Play some tasks several times before you train: how many are solved at least once?',
      'Whether RL then adds anything is another question. Compare it with imitation for as long. Where there was an expert to imitate, imitation solved more in greedy play on six of nine tasks here.',
    ],
    hasPassGate: true,
    // prettier-ignore
    trials: trialsOf({ labView: { channel: 'mask' } }, [
      trial('illness', 'RL from random weights', search({ warmStart: 'none' }), SUCCESS, ({ before, after }) => after < before + 0.05, WENT),
      trial('cure', 'RL after a warm-up (SFT)', search({ warmStart: 'shipped' }), SUCCESS, ({ before, after }) => after > before + 0.05, WENT),
    ]),
    knobs: ['warmStart', 'imitationSteps'],
    limits:
      'The grammar helps random weights: they solve 9 % of these tasks in one try and 69 % in one of 16 (seed 7, 32 tasks). So chances aren’t what they lack here, and pass@k alone doesn’t tell that RL will learn. Simple tasks don’t need a warm-up: number hunt learns from random weights, too. RL did not beat imitation for as long on Sokoban and FrozenLake.',
    threads: ['RUC-NLPIR/ARPO#1', 'qiancheng0/ToolRL#6', 'marin-community/marin#8876'],
    links: [
      { label: 'Experiment: is RL needed?', href: '#/experiments?experiment=imitation' },
      { label: 'Experiment: what it learns, with imitation for as long', href: '#/experiments?experiment=learning' },
    ],
  },
] as const satisfies readonly Answer[];

export function answerNamed(id: string): Answer | undefined {
  return ANSWERS.find((answer) => answer.id === id);
}
