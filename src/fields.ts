/** When a change of a knob takes effect: at the next optimizer step, at the next rollout batch, or after a restart. */
export type When = 'live' | 'next' | 'restart';

interface Common {
  readonly label: string;
  readonly group: 'task' | 'reward' | 'objective' | 'masks' | 'expert' | 'rollout' | 'optimizer' | 'model' | 'run';
  readonly when: When;
  readonly doc: string;
  readonly envs?: readonly string[]; // the environments it acts in; all without it
}
export type Field = Common &
  (
    | { readonly default: string; readonly choices: readonly string[] }
    | {
        readonly default: number;
        readonly min: number;
        readonly max: number;
        readonly integer?: boolean;
        readonly log?: boolean; // the slider spans decades
      }
  );

const ON_OFF = ['on', 'off'] as const;
const FOLLOW = ['follow', 'on', 'off'] as const;
const KL = ['k1', 'k2', 'k3'] as const;

/**
 * Every knob of a run, once. The form, the address, validation, the command line and the README's table derive from it.
 */
// One knob a line reads best as a table.
// prettier-ignore
export const FIELDS = {
  env: { label: 'Environment', group: 'task', when: 'restart', default: 'number-hunt', choices: ['number-hunt', 'multi-hop', 'frozen-lake', 'sokoban', 'bandit', 'bandit-reversed', 'calculator', 'countdown'], doc: 'The toy environment the agent lives in.' },
  range: { label: 'Range', group: 'task', when: 'restart', envs: ['number-hunt'], default: 16, min: 2, max: 64, integer: true, doc: 'Number hunt: the hidden number is in 0 … range − 1.' },
  entities: { label: 'Entities', group: 'task', when: 'restart', envs: ['multi-hop'], default: 12, min: 3, max: 48, integer: true, doc: 'Multi-hop: entities in the graph, drawn anew for each task.' },
  relations: { label: 'Relations', group: 'task', when: 'restart', envs: ['multi-hop'], default: 3, min: 1, max: 12, integer: true, doc: 'Multi-hop: relations; each maps every entity to one entity.' },
  hops: { label: 'Hops', group: 'task', when: 'restart', envs: ['multi-hop', 'calculator'], default: 2, min: 1, max: 4, integer: true, doc: 'Multi-hop: relations between the question and its answer. Calculator: operations.' },
  oneHopShare: { label: 'One-hop share', group: 'task', when: 'next', envs: ['multi-hop'], default: 0.15, min: 0, max: 1, doc: 'Multi-hop: share of tasks that need one hop only.' },
  size: { label: 'Board size', group: 'task', when: 'restart', envs: ['frozen-lake', 'sokoban'], default: 4, min: 3, max: 6, integer: true, doc: 'FrozenLake and Sokoban: cells a side; Sokoban has a ring of walls around them.' },
  slip: { label: 'Slip', group: 'task', when: 'restart', envs: ['frozen-lake'], default: 0.2, min: 0, max: 0.9, doc: 'FrozenLake: probability that a move goes to one of its sides; gymnasium has 2/3.' },
  failureRate: { label: 'Tool failure', group: 'task', when: 'next', envs: ['number-hunt', 'multi-hop', 'frozen-lake', 'sokoban', 'calculator'], default: 0, min: 0, max: 0.9, doc: 'Probability that a tool call fails and says so.' },
  distractors: { label: 'Distractors', group: 'task', when: 'restart', envs: ['number-hunt', 'multi-hop'], default: 0, min: 0, max: 6, integer: true, doc: 'Unrelated facts (multi-hop) or filler words (number hunt) in each observation.' },
  maxTurns: { label: 'Turns', group: 'task', when: 'restart', envs: ['number-hunt', 'multi-hop', 'frozen-lake', 'sokoban', 'calculator'], default: 4, min: 1, max: 12, integer: true, doc: 'Turns the agent has; too few to try everything. Bandit and Countdown have one.' },
  grammar: { label: 'Grammar mask', group: 'task', when: 'next', default: 'on', choices: ON_OFF, doc: 'On: only tokens that keep the turn well formed can be drawn. Off: malformed turns get an error observation and a penalty.' },
  think: { label: 'Think span', group: 'task', when: 'restart', default: 'off', choices: ON_OFF, doc: 'Lets a turn open with a short <think> span; its words are the agent’s own.' },

  outcomeReward: { label: 'Outcome reward', group: 'reward', when: 'next', default: 1, min: 0, max: 10, doc: 'Paid when the task is solved, on the last action token.' },
  processReward: { label: 'Process reward', group: 'reward', when: 'next', default: 0, min: 0, max: 1, doc: 'Paid at a tool call that makes progress, on its last action token (Agent-R1).' },
  invalidPenalty: { label: 'Format penalty', group: 'reward', when: 'next', default: 0.1, min: 0, max: 1, doc: 'Taken off for each malformed turn (RAGEN).' },
  thinkReward: { label: 'Thinking reward', group: 'reward', when: 'next', default: 0, min: 0, max: 1, doc: 'Paid at the end of a think span that names what the right next action needs, as a share of its words (RAGEN’s reasoning-aware reward).' },
  turnCost: { label: 'Turn cost', group: 'reward', when: 'next', default: 0, min: 0, max: 1, doc: 'Taken off for each tool call.' },
  rewardModel: { label: 'Reward model', group: 'reward', when: 'restart', default: 'off', choices: ON_OFF, doc: 'On: a small transformer with one scalar output is fitted to preferences between rollouts (Bradley–Terry), as in RLHF.' },
  preferenceReward: { label: 'Preference reward', group: 'reward', when: 'next', default: 0, min: 0, max: 10, doc: 'Weight of the reward model’s score, centred over the batch, on the last action token.' },
  labellerNoise: { label: 'Labeller noise', group: 'reward', when: 'next', default: 0.1, min: 0, max: 0.5, doc: 'Share of the simulated labeller’s choices that are turned round.' },
  labellerTaste: { label: 'Labeller taste', group: 'reward', when: 'next', default: 0.3, min: 0, max: 2, doc: 'What a tool call is worth to the simulated labeller, who is impressed by effort; a right answer is worth 1.' },

  estimator: { label: 'Advantage', group: 'objective', when: 'next', default: 'grpo', choices: ['gae', 'bi-level-gae', 'grpo', 'rloo', 'reinforce', 'reinforce++', 'reinforce++-baseline'], doc: 'gae: generalised advantage estimation with a critic (PPO). bi-level-gae: over turns, then over their tokens (RAGEN). grpo: score against the other rollouts of the same prompt. rloo: against the mean of the others. reinforce: reward to go. reinforce++: the same, whitened over the batch. reinforce++-baseline: score minus the group’s mean, whitened.' },
  divideByStd: { label: 'Divide by std', group: 'objective', when: 'next', default: 'on', choices: ON_OFF, doc: 'GRPO divides by the group’s standard deviation (n − 1); off is Dr. GRPO (arXiv 2503.20783).' },
  whiten: { label: 'Whiten', group: 'objective', when: 'next', default: 'on', choices: ON_OFF, doc: 'gae, bi-level-gae, reinforce++ and its baseline: advantages get mean 0 and variance 1 over the batch, then are masked again.' },
  gamma: { label: 'Discount γ', group: 'objective', when: 'next', default: 1, min: 0, max: 1, doc: 'Discount per token of the advantage mask: gae, bi-level-gae, reinforce, reinforce++.' },
  lambda: { label: 'GAE λ', group: 'objective', when: 'next', default: 1, min: 0, max: 1, doc: 'gae and bi-level-gae: trace decay (arXiv 1506.02438).' },
  turnGamma: { label: 'Turn discount', group: 'objective', when: 'next', default: 0.95, min: 0, max: 1, doc: 'bi-level-gae: discount per turn (RAGEN, arXiv 2504.20073).' },
  surrogate: { label: 'Surrogate', group: 'objective', when: 'live', default: 'clipped', choices: ['clipped', 'plain'], doc: 'clipped: PPO’s ratio, clipped. plain: −A · log π (REINFORCE), exact only while the batch is fresh.' },
  clipLow: { label: 'Clip low ε₋', group: 'objective', when: 'live', default: 0.2, min: 0, max: 1, doc: 'The ratio is clipped below at 1 − clipLow (arXiv 1707.06347).' },
  clipHigh: { label: 'Clip high ε₊', group: 'objective', when: 'live', default: 0.2, min: 0, max: 5, doc: 'The ratio is clipped above at 1 + clipHigh; DAPO uses 0.28 (arXiv 2503.14476).' },
  dualClip: { label: 'Dual clip', group: 'objective', when: 'live', default: 3, min: 0, max: 20, doc: 'For negative advantages the loss is capped at −A · dualClip; 0 is off (arXiv 1912.09729).' },
  klCoef: { label: 'KL β', group: 'objective', when: 'live', default: 0, min: 0, max: 10, doc: 'Weight of the KL to the reference policy (the weights the run began with) in the loss.' },
  klEstimator: { label: 'KL estimator', group: 'objective', when: 'live', default: 'k3', choices: KL, doc: 'In the loss. With δ = log π − log π_ref: k1 = δ, k2 = δ²/2, k3 = e^−δ − 1 + δ.' },
  klRewardCoef: { label: 'KL in reward β', group: 'objective', when: 'next', default: 0, min: 0, max: 10, doc: 'Taken off each action token’s reward, times the KL estimate of the policy that drew it to the reference.' },
  klRewardEstimator: { label: 'KL in reward, estimator', group: 'objective', when: 'next', default: 'k1', choices: KL, doc: 'k1 makes the expected gradient that of the reverse KL (arXiv 2510.01555).' },
  klTarget: { label: 'KL target', group: 'objective', when: 'next', default: 0, min: 0, max: 100, doc: 'KL in reward β is steered towards this KL (adaptive controller, arXiv 1909.08593); 0 keeps it fixed.' },
  klHorizon: { label: 'KL horizon', group: 'objective', when: 'next', default: 10000, min: 1, max: 1e7, log: true, doc: 'Rollouts over which the controller acts.' },
  entropyCoef: { label: 'Entropy bonus', group: 'objective', when: 'live', default: 0.003, min: 0, max: 1, doc: 'Weight of the mean entropy, taken off the loss.' },
  aggregation: { label: 'Aggregation', group: 'objective', when: 'live', default: 'token-mean', choices: ['token-mean', 'seq-mean-token-sum', 'seq-mean-token-mean', 'seq-mean-token-sum-norm'], doc: 'How token losses become one number: mean over tokens; sum or mean within a rollout, then mean over rollouts; sum divided by the constant longest length (Dr. GRPO).' },
  critic: { label: 'Critic', group: 'objective', when: 'restart', default: 'shared', choices: ['none', 'shared', 'separate'], doc: 'shared: a value head on the policy’s trunk. separate: a network of its own with its own optimizer (Agent-R1, verl). It rests while the estimator needs none.' },
  criticWarmup: { label: 'Critic warm-up', group: 'objective', when: 'next', default: 0, min: 0, max: 1000, integer: true, doc: 'Updates at the start in which only a separate critic learns (Agent-R1: 5).' },
  valueCoef: { label: 'Value weight', group: 'objective', when: 'live', default: 0.5, min: 0, max: 10, doc: 'Weight of the value loss beside the policy loss; a separate critic ignores it.' },
  valueClip: { label: 'Value clip', group: 'objective', when: 'live', default: 0.5, min: 0, max: 100, doc: 'A value may move this far from its old self before its loss is clipped.' },

  lossMask: { label: 'Loss mask', group: 'masks', when: 'next', default: 'on', choices: ON_OFF, doc: 'On: only tokens the agent wrote are in the loss. Off: every response token, observations too.' },
  advantageMask: { label: 'Advantage mask', group: 'masks', when: 'next', default: 'on', choices: ON_OFF, doc: 'On: credit walks from agent token to agent token. Off: recursion, whitening and critic targets also run over observations.' },

  advantageTokens: { label: 'Recursion', group: 'expert', when: 'next', default: 'follow', choices: FOLLOW, doc: 'Mask of GAE, rewards to go and group scores. follow: as the advantage mask.' },
  whitenTokens: { label: 'Whitening', group: 'expert', when: 'next', default: 'follow', choices: FOLLOW, doc: 'Mask of the tokens that make mean and variance. follow: as the advantage mask.' },
  valueTokens: { label: 'Critic targets', group: 'expert', when: 'next', default: 'follow', choices: FOLLOW, doc: 'Mask of the value loss. follow: as the advantage mask.' },
  klRewardTokens: { label: 'KL in reward', group: 'expert', when: 'next', default: 'follow', choices: FOLLOW, doc: 'Mask of the tokens that pay for KL. follow: as the advantage mask.' },
  policyTokens: { label: 'Policy loss', group: 'expert', when: 'next', default: 'follow', choices: FOLLOW, doc: 'Mask of the policy loss. follow: as the loss mask.' },
  regularizerTokens: { label: 'Entropy and KL loss', group: 'expert', when: 'next', default: 'follow', choices: FOLLOW, doc: 'Mask of the entropy bonus and the KL loss. follow: as the loss mask.' },
  remask: { label: 'Mask after whitening', group: 'expert', when: 'next', default: 'on', choices: ON_OFF, doc: 'On: whitened advantages are 0 outside the mask. Off: −mean/std stays there, as in verl’s GAE and Agent-R1; it acts once the policy loss takes in observations.' },
  rewardOnLastAction: { label: 'Reward on last action', group: 'expert', when: 'next', default: 'on', choices: ON_OFF, doc: 'Off: a turn is paid on the last token that is written, an observation where one follows, and the advantage mask drops it (Agent-R1).' },

  filter: { label: 'Group filter', group: 'rollout', when: 'next', default: 'none', choices: ['none', 'top-fraction', 'top-p', 'drop-uniform'], doc: 'Which prompts are learned from. top-fraction: the share whose rollouts differ most in score (StarPO-S). top-p: the most different ones that hold topP of all spread (RAGEN-2). drop-uniform: all but those whose rollouts score the same (DAPO).' },
  filterShare: { label: 'Kept share', group: 'rollout', when: 'next', default: 0.25, min: 0.01, max: 1, doc: 'top-fraction: share of the prompts kept.' },
  filterTopP: { label: 'Kept spread', group: 'rollout', when: 'next', default: 0.9, min: 0.01, max: 1, doc: 'top-p: share of the summed spread kept.' },
  filterScore: { label: 'Filtered by', group: 'rollout', when: 'next', default: 'reward', choices: ['reward', 'success'], doc: 'The raw score whose spread counts: summed reward, or solved or not.' },
  filterScaling: { label: 'Scale after filter', group: 'rollout', when: 'next', default: 'none', choices: ['none', 'linear', 'sqrt'], doc: 'Multiplies advantages by the kept share of prompts, or its root (RAGEN-2).' },
  prompts: { label: 'Prompts', group: 'rollout', when: 'restart', default: 16, min: 1, max: 1024, integer: true, doc: 'Different tasks in one batch.' },
  groupSize: { label: 'Group size', group: 'rollout', when: 'restart', default: 8, min: 1, max: 64, integer: true, doc: 'Rollouts of each task.' },
  temperature: { label: 'Temperature τ', group: 'rollout', when: 'next', default: 1, min: 0.05, max: 5, doc: 'Divides the logits, in the sampler and in the log-probability alike.' },
  topK: { label: 'Top-k', group: 'rollout', when: 'next', default: 0, min: 0, max: 1024, integer: true, doc: 'Draw from the k likeliest tokens only; 0 is off.' },
  topP: { label: 'Top-p', group: 'rollout', when: 'next', default: 1, min: 0.01, max: 1, doc: 'Draw from the smallest set of tokens that holds this much probability; 1 is off.' },
  decodeChunk: { label: 'Decode chunk', group: 'rollout', when: 'next', default: 16, min: 1, max: 64, integer: true, doc: 'Tokens per submit and read-back at most; changes speed only.' },

  learningRate: { label: 'Learning rate η', group: 'optimizer', when: 'live', default: 2e-3, min: 0, max: 0.1, log: true, doc: 'AdamW’s step size.' },
  criticLearningRate: { label: 'Critic rate', group: 'optimizer', when: 'live', default: 1e-3, min: 0, max: 0.1, log: true, doc: 'Step size of a separate critic.' },
  epochs: { label: 'Epochs', group: 'optimizer', when: 'next', default: 2, min: 1, max: 16, integer: true, doc: 'Passes over each batch.' },
  minibatches: { label: 'Minibatches', group: 'optimizer', when: 'restart', default: 2, min: 1, max: 64, integer: true, doc: 'Optimizer steps per pass.' },
  maxGradNorm: { label: 'Gradient clip', group: 'optimizer', when: 'live', default: 1, min: 0.001, max: 1000, doc: 'The gradient is scaled down to this norm.' },
  beta1: { label: 'β₁', group: 'optimizer', when: 'live', default: 0.9, min: 0, max: 0.9999, doc: 'Decay of the first moment.' },
  beta2: { label: 'β₂', group: 'optimizer', when: 'live', default: 0.999, min: 0, max: 0.99999, doc: 'Decay of the second moment.' },
  adamEps: { label: 'Adam ε', group: 'optimizer', when: 'live', default: 1e-5, min: 1e-10, max: 0.1, log: true, doc: 'Added to the root of the second moment.' },
  weightDecay: { label: 'Weight decay', group: 'optimizer', when: 'live', default: 0, min: 0, max: 1, doc: 'Decoupled; on tensors of two or more dimensions only.' },

  layers: { label: 'Layers', group: 'model', when: 'restart', default: 2, min: 1, max: 24, integer: true, doc: 'Transformer blocks.' },
  width: { label: 'Width', group: 'model', when: 'restart', default: 32, min: 4, max: 2048, integer: true, doc: 'Hidden size.' },
  heads: { label: 'Heads', group: 'model', when: 'restart', default: 4, min: 1, max: 64, integer: true, doc: 'Query heads; the head size width / heads must be even and at most 64.' },
  kvHeads: { label: 'KV heads', group: 'model', when: 'restart', default: 4, min: 1, max: 64, integer: true, doc: 'Key and value heads; divides the query heads.' },
  ffn: { label: 'MLP width', group: 'model', when: 'restart', default: 96, min: 4, max: 8192, integer: true, doc: 'Width of the SwiGLU.' },
  tieEmbeddings: { label: 'Tied head', group: 'model', when: 'restart', default: 'on', choices: ON_OFF, doc: 'The head shares the embedding’s weights.' },
  attentionBias: { label: 'Attention bias', group: 'model', when: 'restart', default: 'off', choices: ON_OFF, doc: 'Bias on q, k and v, as Qwen2 has.' },

  warmStart: { label: 'Warm start', group: 'run', when: 'restart', default: 'shipped', choices: ['shipped', 'train', 'none'], doc: 'shipped: weights imitated from imperfect demonstrations, where a file fits the model. train: imitate now. none: random weights.' },
  updates: { label: 'Updates', group: 'run', when: 'live', default: 150, min: 1, max: 100000, integer: true, doc: 'Where a run ends; more can be added later.' },
  evalEvery: { label: 'Evaluate every', group: 'run', when: 'live', default: 10, min: 0, max: 10000, integer: true, doc: 'Updates between evaluations on held-out tasks; 0: only before and after.' },
  evalTasks: { label: 'Held-out tasks', group: 'run', when: 'next', default: 128, min: 1, max: 4096, integer: true, doc: 'Tasks in an evaluation; their seeds never occur in training.' },
  evaluation: { label: 'Evaluation', group: 'run', when: 'restart', default: 'held-out', choices: ['held-out', 'full'], doc: 'full: the first and last evaluation also play tasks harder than any trained on, and the first plays naive RAG: one retrieval in the prompt, then an answer.' },
  miEvery: { label: 'Measure MI every', group: 'run', when: 'next', default: 5, min: 0, max: 1000, integer: true, doc: 'Updates between measurements of how much turns depend on what the agent has read (RAGEN-2); 0 is off.' },
  backend: { label: 'Backend', group: 'run', when: 'restart', default: 'auto', choices: ['auto', 'gpu', 'cpu'], doc: 'auto: WebGPU where there is an adapter, else TypeScript on the CPU.' },
  seed: { label: 'Seed', group: 'run', when: 'restart', default: 7, min: 0, max: 4294967295, integer: true, doc: 'Tasks, weights and draws all follow from it.' },
} as const satisfies Record<string, Field>;
