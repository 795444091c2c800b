import type { FieldName, RunConfig } from '../config/fields.ts';
import { type Engine, ENGINES, type MappedKnob } from '../config/mappedKnob.ts';
import { ESTIMATORS, usesCritic } from '../config/estimators.ts';
import { whyIdle } from '../config/idle.ts';
import {
  ESTIMATOR_COUNTERPARTS,
  LOSS_MODES,
  LOSS_TYPES,
  policyStartStep,
  trlCorrection,
  verlCorrection,
  divisorAtLeast,
  generationsPerTask,
  type Overrides,
} from './counterparts.ts';

/** The counterpart of a knob in an engine. */
export type Counterpart =
  | { readonly keys: readonly string[]; readonly set: (c: RunConfig) => Overrides; readonly note?: string } // settings
  | { readonly folder: string } // the part of the folder that has the knob's effect
  | { readonly none: string }; // why there is no counterpart

type CounterpartRow = Readonly<Record<Engine, Counterpart>>;

const inTasks: CounterpartRow = { verl: { folder: 'the tasks' }, trl: { folder: 'the tasks' } };
const inRules: CounterpartRow = { verl: { folder: 'environment.json' }, trl: { folder: 'environment.json' } };
const inModel: CounterpartRow = { verl: { folder: 'model/' }, trl: { folder: 'model/' } };
const noCounterpart = (why: string): CounterpartRow => ({ verl: { none: why }, trl: { none: why } });
const setting = (name: string, value: (c: RunConfig) => Overrides[string], note?: string): Counterpart => ({
  keys: [name],
  set: (c) => ({ [name]: value(c) }),
  ...(note !== undefined && { note }),
});

const ACTOR = 'actor_rollout_ref.actor';
const ROLLOUT = 'actor_rollout_ref.rollout';
const CORRECTION = 'algorithm.rollout_correction';
const REWARD_MODEL = noCounterpart('the environment’s rewards are handed over, a reward model isn’t');
const ONE_SCORE = 'a rollout has one score and no discount';
const ONLY_AGENT_TOKENS = noCounterpart('there only the agent’s tokens are in the loss, never observations');
const ONE_ROW = noCounterpart('a rollout is one row, and the chat keeps all turns');
const NO_ADAPTER = noCounterpart('runs with model=checkpoint aren’t handed over');
const NO_CRITIC: Counterpart = { none: 'GRPO has no critic' };
const NO_FILTER: Counterpart = { none: 'every group is kept; a group whose scores are equal gets advantage 0' };
const NO_KL_REWARD: Counterpart = { none: 'KL is in the loss only' };

/**
 * The counterparts of every knob. The README of a folder, its run script, docs/hand-over.md and the page's table are
 * made from it.
 */
// One knob per line reads best as a table.
// prettier-ignore
export const COUNTERPARTS: Readonly<Record<FieldName, CounterpartRow>> = {
  env: inTasks, range: inRules, entities: inTasks, relations: inTasks, hops: inTasks, oneHopShare: inTasks, topPassages: inRules, names: inTasks, retriever: inTasks,
  size: inRules, slip: inRules, ends: inRules, sight: inRules,
  failureRate: inRules, latency: inRules, distractors: inRules, maxTurns: inRules,
  grammar: noCounterpart('every word can be drawn; a malformed turn gets “error” and costs the format penalty'),
  think: inRules, language: noCounterpart('only tasks with language=words are handed over'),

  outcomeReward: inRules, answerReward: inRules, processReward: inRules, callReward: inRules, invalidPenalty: inRules, thinkReward: inRules, turnCost: inRules,
  informationReward: noCounterpart('there a reward can’t ask the policy; fw-ai’s cookbook has a recipe for IGPO'),
  rewardModel: REWARD_MODEL, preferenceReward: REWARD_MODEL, labellerNoise: REWARD_MODEL, labellerTaste: REWARD_MODEL,

  estimator: {
    verl: setting('algorithm.adv_estimator', ({ estimator }) => ESTIMATOR_COUNTERPARTS[estimator], 'bi-level-gae and turn-gae become gae, gigpo, mt-grpo, turn-baseline, turn-credit and maxrl grpo, reinforce becomes reinforce_plus_plus, which whitens; rft and none have no counterpart and become grpo, which learns from rewards'),
    trl: { none: 'GRPOTrainer always compares with the group’s mean' },
  },
  divideByStd: {
    verl: setting('algorithm.norm_adv_by_std_in_grpo', ({ divideByStd }) => divideByStd === 'on'),
    trl: setting('scale_rewards', (c) => (c.estimator === 'reinforce++-baseline' ? 'batch' : ESTIMATORS[c.estimator].dividesByStd && c.divideByStd === 'on' ? 'group' : 'none'), 'batch for reinforce++-baseline'),
  },
  whiten: { verl: { none: 'gae, reinforce_plus_plus and reinforce_plus_plus_baseline always whiten; grpo and rloo never do' }, trl: { none: 'GRPOTrainer scales advantages by scale_rewards, see divideByStd' } },
  gamma: { verl: setting('algorithm.gamma', ({ gamma }) => gamma), trl: { none: ONE_SCORE } },
  lambda: { verl: setting('algorithm.lam', ({ lambda }) => lambda), trl: { none: ONE_SCORE } },
  turnGamma: noCounterpart('no estimator over turns'),
  stateWeight: noCounterpart('neither has GiGPO or turn credit; verl-agent and Trinity-RFT have GiGPO'),
  surrogate: {
    verl: setting(`${ACTOR}.policy_loss.loss_mode`, ({ surrogate }) => LOSS_MODES[surrogate]),
    trl: setting('importance_sampling_level', ({ surrogate }) => (surrogate === 'gspo' ? 'sequence' : 'token'), 'cispo becomes loss_type=cispo, a mean over tokens; plain and dppo-tv become clipped, whose gradients are the same on a batch’s first step'),
  },
  clipLow: {
    verl: { keys: [`${ACTOR}.clip_ratio`, `${ACTOR}.clip_ratio_low`], set: ({ clipLow }) => ({ [`${ACTOR}.clip_ratio`]: clipLow, [`${ACTOR}.clip_ratio_low`]: clipLow }) },
    trl: setting('epsilon', ({ clipLow }) => clipLow),
  },
  clipHigh: { verl: setting(`${ACTOR}.clip_ratio_high`, ({ clipHigh }) => clipHigh), trl: setting('epsilon_high', ({ clipHigh, surrogate }) => (surrogate === 'cispo' ? 1 + clipHigh : clipHigh), 'for cispo, TRL has no lower clip, and the upper one is the ratio itself: 1 + clipHigh') },
  dualClip: {
    verl: setting(`${ACTOR}.clip_ratio_c`, ({ dualClip }) => (dualClip > 1 ? dualClip : 1e9), 'it must be above 1; if the knob is off or at most 1, it’s set to 1e9, which has no effect'),
    trl: setting('delta', ({ dualClip, clipHigh }) => (dualClip > 1 + clipHigh ? dualClip : null), 'only if the knob is above 1 + clipHigh; otherwise off'),
  },
  klCoef: {
    verl: { keys: [`${ACTOR}.use_kl_loss`, `${ACTOR}.kl_loss_coef`], set: ({ klCoef }) => ({ [`${ACTOR}.use_kl_loss`]: klCoef > 0, [`${ACTOR}.kl_loss_coef`]: klCoef }) },
    trl: setting('beta', ({ klCoef }) => klCoef),
  },
  klEstimator: {
    verl: setting(`${ACTOR}.kl_loss_type`, ({ klEstimator, klTimesRatio }) => (klTimesRatio === 'on' && klEstimator !== 'k2' ? `${klEstimator}+` : klEstimator), 'with klTimesRatio k1+ or k3+, whose gradient is that of k2: on a batch’s first step it’s that of k3 × ratio, and on average that of k1 × ratio'),
    trl: { none: 'always k3, without a bound' },
  },
  klTimesRatio: { verl: { none: 'see klEstimator' }, trl: setting('use_bias_correction_kl', ({ klTimesRatio }) => klTimesRatio === 'on', 'TRL’s default is on') },
  klRewardCoef: {
    verl: { keys: ['algorithm.use_kl_in_reward', 'algorithm.kl_ctrl.kl_coef'], set: ({ klRewardCoef }) => ({ 'algorithm.use_kl_in_reward': klRewardCoef > 0, 'algorithm.kl_ctrl.kl_coef': klRewardCoef }) },
    trl: NO_KL_REWARD,
  },
  klRewardEstimator: { verl: setting('algorithm.kl_penalty', ({ klRewardEstimator }) => klRewardEstimator), trl: NO_KL_REWARD },
  klTarget: {
    verl: { keys: ['algorithm.kl_ctrl.type', 'algorithm.kl_ctrl.target_kl'], set: ({ klTarget }) => ({ 'algorithm.kl_ctrl.type': klTarget > 0 ? 'adaptive' : 'fixed', 'algorithm.kl_ctrl.target_kl': klTarget > 0 ? klTarget : 0.1 }) },
    trl: NO_KL_REWARD,
  },
  klHorizon: { verl: setting('algorithm.kl_ctrl.horizon', ({ klHorizon }) => Math.round(klHorizon)), trl: NO_KL_REWARD },
  teacher: noCounterpart('verl distils from a teacher that it serves itself, TRL in its own trainers; neither has these teachers'), teacherCoef: noCounterpart('see teacher'),
  correction: {
    verl: { keys: [`${CORRECTION}.rollout_is`, `${CORRECTION}.rollout_is_threshold`, `${CORRECTION}.rollout_rs`, `${CORRECTION}.rollout_rs_threshold`, `${ROLLOUT}.calculate_log_probs`], set: verlCorrection, note: 'rejected becomes rollout_rs token_k1 or seq_mean_k1, whose limits are those of 1/r' },
    trl: { keys: ['vllm_importance_sampling_correction', 'vllm_importance_sampling_mode', 'vllm_importance_sampling_clip_max', 'vllm_importance_sampling_clip_min'], set: trlCorrection, note: 'only with vLLM, whose log-probabilities it corrects; none is TRL’s default, sequence_mask up to 3; rejected becomes a mask' },
  },
  correctionLevel: { verl: { none: 'see correction' }, trl: { none: 'see correction' } },
  correctionLow: { verl: { none: 'see correction' }, trl: { none: 'see correction' } },
  correctionHigh: { verl: { none: 'see correction' }, trl: { none: 'see correction' } },
  entropyCoef: { verl: setting(`${ACTOR}.entropy_coeff`, ({ entropyCoef }) => entropyCoef), trl: setting('entropy_coef', ({ entropyCoef }) => entropyCoef) },
  aggregation: {
    verl: setting(`${ACTOR}.loss_agg_mode`, ({ aggregation }) => aggregation),
    trl: setting('loss_type', ({ aggregation, surrogate }) => (surrogate === 'cispo' ? 'cispo' : LOSS_TYPES[aggregation]), 'token-mean is dapo, seq-mean-token-mean grpo, seq-mean-token-sum-norm dr_grpo; seq-mean-token-sum becomes dr_grpo, which differs by a constant factor'),
  },
  critic: { verl: setting('critic.enable', ({ estimator }) => usesCritic(estimator), 'shared and separate both become a separate network that starts from the policy’s trunk'), trl: NO_CRITIC },
  criticWarmup: { verl: setting('trainer.critic_warmup', policyStartStep, 'criticWarmup + 1, the step at which the policy begins to learn; 0 without a separate critic'), trl: NO_CRITIC },
  valueCoef: { verl: { none: 'the critic has its own optimizer' }, trl: NO_CRITIC },
  valueClip: { verl: setting('critic.cliprange_value', ({ valueClip }) => valueClip), trl: NO_CRITIC },

  lossMask: ONLY_AGENT_TOKENS, advantageMask: ONLY_AGENT_TOKENS, advantageTokens: ONLY_AGENT_TOKENS, whitenTokens: ONLY_AGENT_TOKENS, valueTokens: ONLY_AGENT_TOKENS, klRewardTokens: ONLY_AGENT_TOKENS,
  observationLoss: noCounterpart('there observations are never learned; rLLM, SkyRL and prime-rl have such a loss (ECHO)'),
  trainTurns: noCounterpart('there every turn of a rollout is in the loss'),
  policyTokens: ONLY_AGENT_TOKENS, regularizerTokens: ONLY_AGENT_TOKENS,
  choiceMask: noCounterpart('without a grammar there is always more than one choice'),
  remask: ONLY_AGENT_TOKENS,
  rewardOnLastAction: noCounterpart('a rollout’s whole score is paid at its last token'),

  rows: ONE_ROW, shown: ONE_ROW, shownTurns: ONE_ROW,
  filter: {
    verl: setting('algorithm.filter_groups.enable', ({ filter }) => filter === 'drop-uniform', 'drop-uniform draws new groups for those it drops, as in DAPO; with top-fraction or top-p every group is kept'),
    trl: NO_FILTER,
  },
  filterShare: noCounterpart('no filter keeps a share of the groups'),
  filterTopP: noCounterpart('no filter keeps a share of the groups'),
  filterScore: { verl: setting('algorithm.filter_groups.metric', ({ filterScore }) => filterScore), trl: NO_FILTER },
  filterScaling: noCounterpart('advantages aren’t rescaled after filtering'),
  prompts: { verl: setting('data.train_batch_size', ({ prompts }) => prompts), trl: setting('generation_batch_size', (c) => c.prompts * generationsPerTask(c), 'rollouts: prompts × groupSize') },
  groupSize: { verl: setting(`${ROLLOUT}.n`, ({ groupSize }) => groupSize), trl: setting('num_generations', generationsPerTask, 'at least 2, because one rollout is no group; 1 becomes 2') },
  randomness: inRules,
  temperature: { verl: setting(`${ROLLOUT}.temperature`, ({ temperature }) => temperature), trl: setting('temperature', ({ temperature }) => temperature) },
  topK: { verl: setting(`${ROLLOUT}.top_k`, ({ topK }) => (topK > 0 ? topK : -1)), trl: setting('top_k', ({ topK }) => topK) },
  topP: { verl: setting(`${ROLLOUT}.top_p`, ({ topP }) => topP), trl: setting('top_p', ({ topP }) => topP) },
  staleTurns: noCounterpart('neither exchanges the weights inside of a rollout'),
  staleness: noCounterpart('both draw each batch with the newest weights; verl’s fully asynchronous trainer, another program, has async_training.staleness_threshold'),
  retokenize: noCounterpart('both keep the drawn ids; TRL’s GRPO encoded turns again until huggingface/trl#5242'),
  decodeChunk: noCounterpart('only changes the page’s speed'),

  learningRate: {
    verl: setting(`${ACTOR}.optim.lr`, ({ learningRate }) => learningRate, 'constant, except during rateWarmup'),
    trl: { keys: ['learning_rate', 'lr_scheduler_type'], set: ({ learningRate, rateWarmup }) => ({ learning_rate: learningRate, lr_scheduler_type: rateWarmup > 0 ? 'constant_with_warmup' : 'constant' }) },
  },
  rateWarmup: {
    verl: { keys: [`${ACTOR}.optim.lr_warmup_steps`, 'critic.optim.lr_warmup_steps'], set: ({ rateWarmup }) => ({ [`${ACTOR}.optim.lr_warmup_steps`]: rateWarmup, 'critic.optim.lr_warmup_steps': rateWarmup }), note: 'in updates' },
    trl: setting('warmup_steps', (c) => c.rateWarmup * c.minibatches * c.epochs, 'optimizer steps: updates × minibatches × epochs'),
  },
  criticLearningRate: { verl: setting('critic.optim.lr', (c) => (c.critic === 'separate' ? c.criticLearningRate : c.learningRate)), trl: NO_CRITIC },
  epochs: { verl: setting(`${ACTOR}.ppo_epochs`, ({ epochs }) => epochs), trl: setting('num_iterations', ({ epochs }) => epochs) },
  minibatches: {
    verl: setting(`${ACTOR}.ppo_mini_batch_size`, ({ prompts, minibatches }) => divisorAtLeast(prompts, prompts / minibatches), 'in prompts; it must divide their number, so the next divisor is taken and there may be fewer minibatches'),
    trl: setting('per_device_train_batch_size', (c) => (c.prompts * generationsPerTask(c)) / c.minibatches, 'in rollouts, on one device'),
  },
  maxGradNorm: {
    verl: { keys: [`${ACTOR}.grad_clip`, 'critic.grad_clip'], set: ({ maxGradNorm }) => ({ [`${ACTOR}.grad_clip`]: maxGradNorm, [`${ACTOR}.optim.clip_grad`]: maxGradNorm, 'critic.grad_clip': maxGradNorm, 'critic.optim.clip_grad': maxGradNorm }), note: 'optim.clip_grad of both networks gets the same value' },
    trl: setting('max_grad_norm', ({ maxGradNorm }) => maxGradNorm),
  },
  beta1: { verl: setting(`${ACTOR}.optim.betas`, ({ beta1, beta2 }) => [beta1, beta2], 'a pair: beta1, beta2'), trl: setting('adam_beta1', ({ beta1 }) => beta1) },
  beta2: { verl: setting(`critic.optim.betas`, ({ beta1, beta2 }) => [beta1, beta2], 'the same pair for the critic'), trl: setting('adam_beta2', ({ beta2 }) => beta2) },
  adamEps: {
    verl: { keys: [`${ACTOR}.optim.override_optimizer_config`, 'critic.optim.override_optimizer_config'], set: ({ adamEps }) => ({ [`${ACTOR}.optim.override_optimizer_config`]: { eps: adamEps }, 'critic.optim.override_optimizer_config': { eps: adamEps } }) },
    trl: setting('adam_epsilon', ({ adamEps }) => adamEps),
  },
  weightDecay: {
    verl: { keys: [`${ACTOR}.optim.weight_decay`, 'critic.optim.weight_decay'], set: ({ weightDecay }) => ({ [`${ACTOR}.optim.weight_decay`]: weightDecay, 'critic.optim.weight_decay': weightDecay }), note: 'applied to norms too' },
    trl: setting('weight_decay', ({ weightDecay }) => weightDecay),
  },

  model: noCounterpart('only runs with model=sizes are handed over'), adapterRank: NO_ADAPTER, adapterAlpha: NO_ADAPTER, adapterTargets: NO_ADAPTER,
  layers: inModel, width: inModel, heads: inModel, kvHeads: inModel, ffn: inModel, tieEmbeddings: inModel, attentionBias: inModel,

  warmStart: inModel, demonstrator: inModel, imitationSteps: inModel, imitationHorizon: inModel,
  updates: { verl: setting('trainer.total_training_steps', ({ updates }) => updates), trl: setting('max_steps', (c) => c.updates * c.minibatches * c.epochs, 'optimizer steps: updates × minibatches × epochs') },
  evalEvery: {
    verl: setting('trainer.test_freq', ({ evalEvery }) => (evalEvery > 0 ? evalEvery : -1)),
    trl: { keys: ['eval_strategy', 'eval_steps'], set: (c) => (c.evalEvery > 0 ? { eval_strategy: 'steps', eval_steps: c.evalEvery * c.minibatches * c.epochs } : { eval_strategy: 'no' }), note: 'in optimizer steps' },
  },
  evalTasks: { verl: { folder: 'val.jsonl' }, trl: { folder: 'val.jsonl' } },
  evaluation: noCounterpart('val.jsonl has the held-out tasks only'),
  miEvery: noCounterpart('verl and TRL don’t measure it'),
  backend: noCounterpart('verl and TRL have their own'),
  kernels: noCounterpart('verl and TRL have their own'),
  storage: {
    verl: setting(`${ROLLOUT}.dtype`, ({ storage }) => (storage === 'f16' ? 'float16' : 'float32')),
    trl: setting('fp16', ({ storage }) => storage === 'f16', 'on a GPU'),
  },
  seed: { verl: setting('data.seed', ({ seed }) => seed), trl: setting('seed', ({ seed }) => seed) },
};

/**
 * The counterparts of each knob that has an effect in a configuration. Knobs that became settings come first, knobs in
 * the folder last.
 */
export function mappedKnobs(config: RunConfig): readonly MappedKnob[] {
  const names = (Object.keys(COUNTERPARTS) as FieldName[]).filter((knob) => whyIdle(knob, config) === null);
  const folderCount = (knob: FieldName) => ENGINES.filter((engine) => 'folder' in COUNTERPARTS[knob][engine]).length;
  return names
    .toSorted((a, b) => folderCount(a) - folderCount(b))
    .map((knob) => {
      const { verl, trl } = COUNTERPARTS[knob];
      return { knob, value: config[knob], verl: counterpartText(verl, config), trl: counterpartText(trl, config) };
    });
}

/** Describes a counterpart in words. With a configuration, settings have their values. */
export function counterpartText(counterpart: Counterpart, config?: RunConfig): string {
  if ('none' in counterpart) return `no counterpart: ${counterpart.none}`;
  if ('folder' in counterpart) return `in ${counterpart.folder}`;
  const { keys, set, note } = counterpart;
  const settings = config ? Object.entries(set(config)).map(([name, value]) => `${name}=${configValue(value)}`) : keys;
  return [settings.join(', '), ...(note === undefined ? [] : [`(${note})`])].join(' ');
}

/** Writes a value for a configuration file. */
export function configValue(value: Overrides[string]): string {
  return typeof value === 'string' ? value : value === null ? 'null' : JSON.stringify(value);
}

/** All settings of an engine that come from knobs, in the order of the knobs. */
export function overridesOf(engine: Engine, config: RunConfig): Overrides {
  const rows = Object.values(COUNTERPARTS).flatMap((row) => ('set' in row[engine] ? [row[engine].set(config)] : []));
  return Object.assign({}, ...rows) as Overrides;
}
