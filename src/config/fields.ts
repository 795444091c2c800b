import { ENV_NAMES, YOUR_ENVIRONMENT } from './environments.ts';
import { ESTIMATOR_NAMES } from './estimators.ts';
import { KERNEL_SET_NAMES } from './kernelChoice.ts';

/** When a change of a knob takes effect: at the next optimizer step, at the next rollout batch, or after a restart. */
export type When = 'live' | 'next' | 'restart';

interface FieldBase {
  readonly label: string;
  readonly group: 'task' | 'reward' | 'objective' | 'masks' | 'expert' | 'rollout' | 'optimizer' | 'model' | 'run';
  readonly when: When;
}
export type Field = FieldBase &
  (
    | {
        readonly default: string;
        readonly choices: readonly string[];
        /** Allowed values that aren't offered as choices, because they need more than a name. */
        readonly unlistedChoices?: readonly string[];
        /** Current values by former ones, which old links, files and saved runs may still use. */
        readonly formerChoices?: ReadonlyMap<string, string>;
      }
    | {
        readonly default: number;
        readonly min: number;
        readonly max: number;
        readonly integer?: boolean;
        readonly log?: boolean; // the slider has a logarithmic scale
      }
  );

const ON_OFF = ['on', 'off'] as const;
const MASK_CHOICES = ['follow', 'on', 'off'] as const;
const KL_ESTIMATORS = ['k1', 'k2', 'k3'] as const;

/** Form, address, validation, command line and the README's table are derived from it. The descriptions are in src/config/fieldDocs.ts. */
// One line for each knob reads best as a table.
// prettier-ignore
export const FIELDS = {
  env: { label: 'Environment', group: 'task', when: 'restart', default: 'number-hunt', choices: ENV_NAMES, unlistedChoices: [YOUR_ENVIRONMENT] },
  range: { label: 'Range of numbers', group: 'task', when: 'restart', default: 16, min: 2, max: 64, integer: true },
  entities: { label: 'Entities', group: 'task', when: 'restart', default: 12, min: 3, max: 48, integer: true },
  relations: { label: 'Relations', group: 'task', when: 'restart', default: 3, min: 1, max: 12, integer: true },
  hops: { label: 'Hops', group: 'task', when: 'restart', default: 2, min: 1, max: 4, integer: true },
  oneHopShare: { label: 'One-hop share', group: 'task', when: 'next', default: 0.15, min: 0, max: 1 },
  topPassages: { label: 'Passages', group: 'task', when: 'restart', default: 1, min: 1, max: 3, integer: true },
  names: { label: 'Names', group: 'task', when: 'restart', default: 'slots', choices: ['slots', 'own'] },
  retriever: { label: 'Retriever', group: 'task', when: 'restart', default: 'agent', choices: ['agent', 'first', 'question'] },
  size: { label: 'Board size', group: 'task', when: 'restart', default: 4, min: 3, max: 6, integer: true },
  slip: { label: 'Slip', group: 'task', when: 'restart', default: 0.2, min: 0, max: 0.9 },
  ends: { label: 'Start and goal', group: 'task', when: 'restart', default: 'any', choices: ['any', 'corners'] },
  sight: { label: 'Sight', group: 'task', when: 'restart', default: 'outlook', choices: ['outlook', 'name'] },
  failureRate: { label: 'Tool failure', group: 'task', when: 'next', default: 0, min: 0, max: 0.9 },
  latency: { label: 'Tool latency', group: 'task', when: 'next', default: 0, min: 0, max: 4 },
  distractors: { label: 'Distractors', group: 'task', when: 'restart', default: 0, min: 0, max: 6, integer: true },
  maxTurns: { label: 'Turns', group: 'task', when: 'restart', default: 4, min: 1, max: 12, integer: true },
  language: { label: 'Language', group: 'task', when: 'restart', default: 'words', choices: ['words', 'text'] },
  grammar: { label: 'Grammar mask', group: 'task', when: 'next', default: 'on', choices: ON_OFF },
  think: { label: 'Think span', group: 'task', when: 'restart', default: 'off', choices: ON_OFF },

  outcomeReward: { label: 'Outcome reward', group: 'reward', when: 'next', default: 1, min: 0, max: 10 },
  answerReward: { label: 'Answer paid by', group: 'reward', when: 'restart', default: 'exact', choices: ['exact', 'f1'] },
  processReward: { label: 'Process reward', group: 'reward', when: 'next', default: 0, min: 0, max: 1 },
  invalidPenalty: { label: 'Format penalty', group: 'reward', when: 'next', default: 0.1, min: 0, max: 1 },
  thinkReward: { label: 'Thinking reward', group: 'reward', when: 'next', default: 0, min: 0, max: 1 },
  callReward: { label: 'Call reward', group: 'reward', when: 'next', default: 0, min: 0, max: 1 },
  informationReward: { label: 'Information gain', group: 'reward', when: 'next', default: 0, min: 0, max: 10 },
  turnCost: { label: 'Turn cost', group: 'reward', when: 'next', default: 0, min: 0, max: 1 },
  rewardModel: { label: 'Reward model', group: 'reward', when: 'restart', default: 'off', choices: ON_OFF },
  preferenceReward: { label: 'Preference reward', group: 'reward', when: 'next', default: 0, min: 0, max: 10 },
  labellerNoise: { label: 'Labeller noise', group: 'reward', when: 'next', default: 0.1, min: 0, max: 0.5 },
  labellerTaste: { label: 'Labeller taste', group: 'reward', when: 'next', default: 0.3, min: 0, max: 2 },

  estimator: { label: 'Advantage', group: 'objective', when: 'next', default: 'grpo', choices: ESTIMATOR_NAMES },
  divideByStd: { label: 'Divide by std', group: 'objective', when: 'next', default: 'on', choices: ON_OFF },
  whiten: { label: 'Whiten', group: 'objective', when: 'next', default: 'on', choices: ON_OFF },
  gamma: { label: 'Discount γ', group: 'objective', when: 'next', default: 1, min: 0, max: 1 },
  lambda: { label: 'GAE λ', group: 'objective', when: 'next', default: 1, min: 0, max: 1 },
  turnGamma: { label: 'Turn discount', group: 'objective', when: 'next', default: 0.95, min: 0, max: 1 },
  stateWeight: { label: 'State weight ω', group: 'objective', when: 'next', default: 1, min: 0, max: 10 },
  surrogate: { label: 'Surrogate', group: 'objective', when: 'live', default: 'clipped', choices: ['clipped', 'gspo', 'cispo', 'dppo-tv', 'plain'] },
  clipLow: { label: 'Clip low ε₋', group: 'objective', when: 'live', default: 0.2, min: 0, max: 1 },
  clipHigh: { label: 'Clip high ε₊', group: 'objective', when: 'live', default: 0.2, min: 0, max: 5 },
  dualClip: { label: 'Dual clip', group: 'objective', when: 'live', default: 3, min: 0, max: 20 },
  klCoef: { label: 'KL β', group: 'objective', when: 'live', default: 0, min: 0, max: 10 },
  klEstimator: { label: 'KL estimator', group: 'objective', when: 'live', default: 'k3', choices: KL_ESTIMATORS },
  klTimesRatio: { label: 'KL × ratio', group: 'objective', when: 'live', default: 'off', choices: ON_OFF },
  klRewardCoef: { label: 'KL in reward β', group: 'objective', when: 'next', default: 0, min: 0, max: 10 },
  klRewardEstimator: { label: 'KL in reward, estimator', group: 'objective', when: 'next', default: 'k1', choices: KL_ESTIMATORS },
  klTarget: { label: 'KL target', group: 'objective', when: 'next', default: 0, min: 0, max: 100 },
  klHorizon: { label: 'KL horizon', group: 'objective', when: 'next', default: 10000, min: 1, max: 1e7, log: true },
  teacher: { label: 'Teacher', group: 'objective', when: 'restart', default: 'none', choices: ['none', 'expert', 'shipped', 'start'] },
  teacherCoef: { label: 'Teacher λ', group: 'objective', when: 'live', default: 1, min: 0, max: 100 },
  correction: { label: 'Off-policy correction', group: 'objective', when: 'next', default: 'none', choices: ['none', 'truncated', 'masked', 'rejected'] },
  correctionLevel: { label: 'Correction per', group: 'objective', when: 'next', default: 'token', choices: ['token', 'sequence'] },
  correctionLow: { label: 'Correction low', group: 'objective', when: 'next', default: 0.5, min: 0, max: 1 },
  correctionHigh: { label: 'Correction high', group: 'objective', when: 'next', default: 2, min: 1, max: 1000, log: true },
  entropyCoef: { label: 'Entropy bonus', group: 'objective', when: 'live', default: 0.003, min: 0, max: 1 },
  aggregation: { label: 'Aggregation', group: 'objective', when: 'live', default: 'token-mean', choices: ['token-mean', 'seq-mean-token-sum', 'seq-mean-token-mean', 'seq-mean-token-sum-norm'] },
  critic: { label: 'Critic', group: 'objective', when: 'restart', default: 'shared', choices: ['none', 'shared', 'separate'] },
  criticWarmup: { label: 'Critic warm-up', group: 'objective', when: 'next', default: 0, min: 0, max: 1000, integer: true },
  valueCoef: { label: 'Value weight', group: 'objective', when: 'live', default: 0.5, min: 0, max: 10 },
  valueClip: { label: 'Value clip', group: 'objective', when: 'live', default: 0.5, min: 0, max: 100 },

  lossMask: { label: 'Loss mask', group: 'masks', when: 'next', default: 'on', choices: ON_OFF },
  advantageMask: { label: 'Advantage mask', group: 'masks', when: 'next', default: 'on', choices: ON_OFF },
  observationLoss: { label: 'Observation loss λ', group: 'masks', when: 'live', default: 0, min: 0, max: 1 },
  trainTurns: { label: 'Trained turns', group: 'masks', when: 'next', default: 'all', choices: ['all', 'first', 'last'] },

  advantageTokens: { label: 'Mask: advantages', group: 'expert', when: 'next', default: 'follow', choices: MASK_CHOICES },
  whitenTokens: { label: 'Mask: whitening', group: 'expert', when: 'next', default: 'follow', choices: MASK_CHOICES },
  valueTokens: { label: 'Mask: critic targets', group: 'expert', when: 'next', default: 'follow', choices: MASK_CHOICES },
  klRewardTokens: { label: 'Mask: KL in reward', group: 'expert', when: 'next', default: 'follow', choices: MASK_CHOICES },
  policyTokens: { label: 'Mask: policy loss', group: 'expert', when: 'next', default: 'follow', choices: MASK_CHOICES },
  regularizerTokens: { label: 'Mask: entropy and KL', group: 'expert', when: 'next', default: 'follow', choices: MASK_CHOICES },
  choiceMask: { label: 'Mask forced tokens', group: 'expert', when: 'next', default: 'off', choices: ON_OFF },
  remask: { label: 'Mask after whitening', group: 'expert', when: 'next', default: 'on', choices: ON_OFF },
  rewardOnLastAction: { label: 'Reward on last action', group: 'expert', when: 'next', default: 'on', choices: ON_OFF },

  rows: { label: 'Training row', group: 'rollout', when: 'restart', default: 'episode', choices: ['episode', 'turn'] },
  shown: { label: 'Shown at a turn', group: 'rollout', when: 'restart', default: 'everything', choices: ['everything', 'last-turns', 'answers', 'observe'] },
  shownTurns: { label: 'Turns shown', group: 'rollout', when: 'restart', default: 1, min: 1, max: 12, integer: true },
  filter: { label: 'Group filter', group: 'rollout', when: 'next', default: 'none', choices: ['none', 'top-fraction', 'top-p', 'drop-uniform'] },
  filterShare: { label: 'Kept share', group: 'rollout', when: 'next', default: 0.25, min: 0.01, max: 1 },
  filterTopP: { label: 'Kept spread', group: 'rollout', when: 'next', default: 0.9, min: 0.01, max: 1 },
  filterScore: { label: 'Filtered by', group: 'rollout', when: 'next', default: 'reward', choices: ['reward', 'success'] },
  filterScaling: { label: 'Scale after filter', group: 'rollout', when: 'next', default: 'none', choices: ['none', 'linear', 'sqrt'] },
  prompts: { label: 'Prompts', group: 'rollout', when: 'restart', default: 16, min: 1, max: 1024, integer: true },
  groupSize: { label: 'Group size', group: 'rollout', when: 'restart', default: 8, min: 1, max: 64, integer: true },
  randomness: { label: 'Randomness', group: 'rollout', when: 'next', default: 'own', choices: ['own', 'group'] },
  temperature: { label: 'Temperature τ', group: 'rollout', when: 'next', default: 1, min: 0.05, max: 5 },
  topK: { label: 'Top-k', group: 'rollout', when: 'next', default: 0, min: 0, max: 1024, integer: true },
  topP: { label: 'Top-p', group: 'rollout', when: 'next', default: 1, min: 0.01, max: 1 },
  staleness: { label: 'Staleness', group: 'rollout', when: 'next', default: 0, min: 0, max: 8, integer: true },
  staleTurns: { label: 'Stale turns', group: 'rollout', when: 'next', default: 'all', choices: ['all', 'first'] },
  retokenize: { label: 'Encode turns again', group: 'rollout', when: 'next', default: 'off', choices: ON_OFF },
  decodeChunk: { label: 'Tokens per read-back', group: 'rollout', when: 'next', default: 16, min: 1, max: 64, integer: true },

  learningRate: { label: 'Learning rate η', group: 'optimizer', when: 'live', default: 2e-3, min: 0, max: 0.1, log: true },
  rateWarmup: { label: 'Learning-rate warm-up', group: 'optimizer', when: 'next', default: 0, min: 0, max: 1000, integer: true },
  criticLearningRate: { label: 'Critic learning rate', group: 'optimizer', when: 'live', default: 1e-3, min: 0, max: 0.1, log: true },
  epochs: { label: 'Epochs', group: 'optimizer', when: 'next', default: 2, min: 1, max: 16, integer: true },
  minibatches: { label: 'Minibatches', group: 'optimizer', when: 'restart', default: 2, min: 1, max: 64, integer: true },
  maxGradNorm: { label: 'Gradient clip', group: 'optimizer', when: 'live', default: 1, min: 0.001, max: 1000 },
  beta1: { label: 'β₁', group: 'optimizer', when: 'live', default: 0.9, min: 0, max: 0.9999 },
  beta2: { label: 'β₂', group: 'optimizer', when: 'live', default: 0.999, min: 0, max: 0.99999 },
  adamEps: { label: 'Adam ε', group: 'optimizer', when: 'live', default: 1e-5, min: 1e-10, max: 0.1, log: true },
  weightDecay: { label: 'Weight decay', group: 'optimizer', when: 'live', default: 0, min: 0, max: 1 },

  model: { label: 'Model made from', group: 'model', when: 'restart', default: 'sizes', choices: ['sizes', 'checkpoint'] },
  adapterRank: { label: 'Adapter rank', group: 'model', when: 'restart', default: 8, min: 1, max: 64, integer: true },
  adapterAlpha: { label: 'Adapter alpha', group: 'model', when: 'restart', default: 16, min: 0.125, max: 256 },
  adapterTargets: { label: 'Adapted layers', group: 'model', when: 'restart', default: 'all', choices: ['all', 'attention', 'mlp'] },
  layers: { label: 'Layers', group: 'model', when: 'restart', default: 2, min: 1, max: 24, integer: true },
  width: { label: 'Width', group: 'model', when: 'restart', default: 32, min: 4, max: 2048, integer: true },
  heads: { label: 'Heads', group: 'model', when: 'restart', default: 4, min: 1, max: 64, integer: true },
  kvHeads: { label: 'KV heads', group: 'model', when: 'restart', default: 4, min: 1, max: 64, integer: true },
  ffn: { label: 'MLP width', group: 'model', when: 'restart', default: 96, min: 4, max: 8192, integer: true },
  tieEmbeddings: { label: 'Tied head', group: 'model', when: 'restart', default: 'on', choices: ON_OFF },
  attentionBias: { label: 'Attention bias', group: 'model', when: 'restart', default: 'off', choices: ON_OFF },

  warmStart: { label: 'Warm start', group: 'run', when: 'restart', default: 'shipped', choices: ['shipped', 'continued', 'train', 'none'] },
  demonstrator: { label: 'Imitated player', group: 'run', when: 'restart', default: 'imperfect', choices: ['imperfect', 'expert'] },
  imitationSteps: { label: 'Imitation steps', group: 'run', when: 'restart', default: 0, min: 0, max: 100000, integer: true },
  imitationHorizon: { label: 'Imitation horizon', group: 'run', when: 'restart', default: 0, min: 0, max: 100000, integer: true },
  updates: { label: 'Updates', group: 'run', when: 'live', default: 150, min: 1, max: 100000, integer: true },
  evalEvery: { label: 'Evaluate every', group: 'run', when: 'live', default: 10, min: 0, max: 10000, integer: true },
  evalTasks: { label: 'Evaluated tasks', group: 'run', when: 'next', default: 128, min: 1, max: 4096, integer: true },
  evaluation: { label: 'Evaluation plays', group: 'run', when: 'restart', default: 'held-out', choices: ['held-out', 'full'] },
  miEvery: { label: 'Measure mutual information every', group: 'run', when: 'next', default: 5, min: 0, max: 1000, integer: true },
  backend: { label: 'Backend', group: 'run', when: 'restart', default: 'auto', choices: ['auto', 'gpu', 'cpu'] },
  kernels: { label: 'GPU kernels', group: 'run', when: 'restart', default: 'auto', choices: ['auto', ...KERNEL_SET_NAMES], formerChoices: new Map([['safe', 'auto']]) },
  storage: { label: 'Storage', group: 'run', when: 'restart', default: 'f32', choices: ['f32', 'f16'] },
  seed: { label: 'Seed', group: 'run', when: 'restart', default: 7, min: 0, max: 4294967295, integer: true },
} as const satisfies Record<string, Field>;

export type FieldName = keyof typeof FIELDS;
type ValueOf<F> = F extends { choices: readonly (infer C)[] }
  ? C | (F extends { unlistedChoices: readonly (infer E)[] } ? E : never)
  : number;
/** A complete, validated set of knobs. */
export type RunConfig = { readonly [K in FieldName]: ValueOf<(typeof FIELDS)[K]> };

/** The part of a configuration that has only the named knobs. */
export function pickKnobs<K extends FieldName>(config: RunConfig, names: readonly K[]): Pick<RunConfig, K> {
  return Object.fromEntries(names.map((name) => [name, config[name]])) as Pick<RunConfig, K>;
}

export const DEFAULTS = Object.fromEntries(
  Object.entries<Field>(FIELDS).map(([name, field]) => [name, field.default]),
) as RunConfig;

export function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(FIELDS, name);
}

// former names that old links, files and saved runs may still use
const FORMER_NAMES: ReadonlyMap<string, FieldName> = new Map([['luck', 'randomness']]);

/** The current name of a knob for a former name. Any other text is returned unchanged. */
export function currentName(name: string): string {
  return FORMER_NAMES.get(name) ?? name;
}

/** Values by knob, with former names replaced by current ones. */
export function withCurrentNames<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [currentName(name), value as unknown])) as T;
}

/** The text itself if it is an allowed value of the field, the current value for a former one; otherwise undefined. */
export function validChoice(field: Extract<Field, { choices: unknown }>, text: string): string | undefined {
  return [...field.choices, ...(field.unlistedChoices ?? [])].includes(text) ? text : field.formerChoices?.get(text);
}

/** The values that a field accepts, in words. */
export function allowedText(field: Field): string {
  if ('choices' in field) return `one of ${field.choices.join(', ')}`;
  return `${field.integer ? 'a whole number' : 'a number'} from ${field.min} to ${field.max}`;
}

/** A knob's value as one would type it: with all digits, without digit grouping. */
export function knobText(value: string | number): string {
  if (typeof value === 'string') return value;
  return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential().replace('e-0', 'e-') : String(value);
}

export function knobLabel(name: FieldName): string {
  const { label }: Field = FIELDS[name];
  return label;
}

/** The difference of two configurations in one knob, as text: “Entropy bonus 0.02 → 0.05”. */
export function changeText(name: FieldName, from: RunConfig, to: RunConfig): string {
  return `${knobLabel(name)} ${knobText(from[name])} → ${knobText(to[name])}`;
}
