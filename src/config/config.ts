import { decimal } from '../base/decimal.ts';
import { usesCritic, usesGroups } from './estimators.ts';
import { FIELD_DOCS } from './fieldDocs.ts';
import { accepts, allowed, DEFAULTS, type Field, FIELDS, isFieldName, type RunConfig } from './fields.ts';
import { visible } from '../base/visible.ts';

export { type Field, type FieldName, FIELDS, isFieldName, type RunConfig, type When } from './fields.ts';

/** A configuration that cannot run; `problems` holds one sentence for each reason. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** One value for a field, from text or number; throws ConfigError saying what was got and what is wanted. */
export function parseField(name: string, input: unknown): string | number {
  if (!isFieldName(name)) {
    throw new ConfigError([`${shown(name)}: no such knob. Have ${Object.keys(FIELDS).join(', ')}.`]);
  }
  const field: Field = FIELDS[name];
  const bad = () => new ConfigError([`${name}: got ${shown(input)}; want ${allowed(field)}. ${FIELD_DOCS[name]}`]);
  if ('choices' in field) {
    if (typeof input !== 'string' || !accepts(field, input)) throw bad();
    return input;
  }
  const value = typeof input === 'string' ? decimal(input) : input;
  if (typeof value !== 'number' || !(value >= field.min && value <= field.max)) throw bad();
  if (field.integer && !Number.isInteger(value)) throw bad();
  return value + 0; // no negative zero
}

/** What was given, for a message: short, and whatever it is. */
function shown(input: unknown): string {
  if (typeof input === 'number' || typeof input === 'boolean' || input === null) return String(input);
  if (typeof input !== 'string')
    return input === undefined ? 'nothing' : Array.isArray(input) ? 'a list' : `a ${typeof input}`;
  if (input.trim() === '') return input === '' ? 'nothing' : 'blanks';
  return visible(input);
}

/** Defaults overlaid with `input`. Throws ConfigError with every problem, cross-field ones too. */
export function parseConfig(input: Readonly<Record<string, unknown>> = {}): RunConfig {
  const problems: string[] = [];
  const values: Record<string, string | number> = { ...DEFAULTS };
  for (const [name, value] of Object.entries(input)) {
    try {
      values[name] = parseField(name, value);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const config = values as RunConfig;
  const impossible = contradictions(config);
  if (impossible.length > 0) throw new ConfigError(impossible);
  return config;
}

/** What runs but seldom does what is meant, a sentence each, named like `contradictions`. */
export function warnings(c: RunConfig): string[] {
  const found: string[] = [];
  if (c.klCoef > 0 && c.klRewardCoef > 0) {
    found.push('klRewardCoef: KL is paid for twice, in the reward and in the loss. Set one of them to 0.');
  }
  if (c.klRewardCoef > 0 && usesGroups(c.estimator)) {
    found.push(
      `klRewardCoef: ${c.estimator} compares whole scores, so KL in the reward mixes two scales. Use klCoef instead.`,
    );
  }
  if (c.klCoef > 0 && c.klEstimator === 'k1') {
    found.push('klEstimator: k1 in the loss has an expected gradient of zero: noise, no pull. Use k2 or k3.');
  }
  if (c.warmStart !== 'train' && (c.imitationSteps > 0 || c.demonstrator !== 'imperfect')) {
    const name = c.imitationSteps > 0 ? 'imitationSteps' : 'demonstrator';
    found.push(`${name}: acts only where weights are imitated now. Set warmStart to train.`);
  }
  if (c.topK > 0 || c.topP < 1) {
    const [name, whole] = c.topK > 0 ? (['topK', 0] as const) : (['topP', 1] as const);
    found.push(
      `${name}: draws come from a cut distribution, but ratio, KL and entropy are the whole policy’s, so a batch is off-policy from the start. rollout/truncation_kl measures it. Set ${name} to ${whole} to draw from the policy itself.`,
    );
  }
  if (c.surrogate === 'plain' && c.epochs * c.minibatches > 1) {
    found.push(
      `surrogate: plain takes each batch as fresh, but it is used for ${c.epochs * c.minibatches} steps. Set epochs to 1, or surrogate to clipped.`,
    );
  }
  return found;
}

/** Why a set of in-range knobs still cannot run together; empty when it can. */
export function contradictions(c: RunConfig): string[] {
  const rows = c.prompts * c.groupSize;
  const found: string[] = [];
  if (c.width % c.heads !== 0) found.push(`heads: ${c.heads} does not divide width ${c.width}. Choose a divisor.`);
  else if ((c.width / c.heads) % 2 !== 0 || c.width / c.heads > 64) {
    found.push(
      `heads: width ${c.width} / heads ${c.heads} = ${c.width / c.heads}; the head size must be even and at most 64.`,
    );
  }
  if (c.heads % c.kvHeads !== 0)
    found.push(`kvHeads: ${c.kvHeads} does not divide heads ${c.heads}. Choose a divisor.`);
  if (rows % c.minibatches !== 0) {
    found.push(
      `minibatches: ${c.minibatches} does not divide the ${rows} rollouts (prompts × groupSize). Choose a divisor.`,
    );
  }
  if (usesCritic(c.estimator) && c.critic === 'none') {
    found.push(
      `critic: none, but ${c.estimator} needs values. Set critic to shared or separate, or estimator to grpo.`,
    );
  }
  if (usesGroups(c.estimator) && c.groupSize < 2) {
    found.push(
      `groupSize: 1, but ${c.estimator} compares rollouts of the same prompt. Use 2 or more, or estimator reinforce++.`,
    );
  }
  if (c.filter !== 'none' && c.groupSize < 2) {
    found.push(
      `groupSize: 1, but the filter ${c.filter} looks at the spread within groups. Use 2 or more, or filter none.`,
    );
  }
  if (c.filter === 'top-fraction' && Math.floor(c.filterShare * c.prompts) < 1) {
    found.push(
      `filterShare: ${c.filterShare} of ${c.prompts} prompts keeps none. Use ${(1 / c.prompts).toPrecision(2)} or more, or more prompts.`,
    );
  }
  if (c.preferenceReward > 0 && c.rewardModel === 'off') {
    found.push(
      'rewardModel: off, but preferenceReward wants its score. Set rewardModel to on, or preferenceReward to 0.',
    );
  }
  if (c.criticWarmup > 0 && c.critic !== 'separate') {
    found.push(
      `criticWarmup: ${c.criticWarmup}, but only a separate critic can learn alone. Set critic to separate, or criticWarmup to 0.`,
    );
  }
  if (actsIn(FIELDS.hops, c) && c.maxTurns < c.hops + 1) {
    found.push(
      `maxTurns: ${c.maxTurns}, but ${c.hops} hops need ${c.hops} calls and an answer. Use ${c.hops + 1} or more.`,
    );
  }
  if (c.env === 'document-search' && c.oneHopShare < 1 && c.maxTurns < 3) {
    found.push(
      `maxTurns: ${c.maxTurns}, but a question over two passages needs two calls and an answer. Use 3 or more, or oneHopShare 1.`,
    );
  }
  // demonstrations and tasks out of the domain are one hop longer; entities and relations of a path all need a word
  if (actsIn(FIELDS.names, c) && c.relations < c.hops + 1) {
    found.push(
      `relations: ${c.relations}, but a chain of ${c.hops + 1}, one more than trained on, may take as many. Use ${c.hops + 1} or more.`,
    );
  }
  if (actsIn(FIELDS.names, c) && c.entities < c.hops + 2) {
    found.push(
      `entities: ${c.entities}, but a chain of ${c.hops + 1} hops meets ${c.hops + 2}. Use ${c.hops + 2} or more.`,
    );
  }
  return found;
}

function actsIn({ envs }: Field, { env }: RunConfig): boolean {
  return envs?.includes(env) ?? true;
}
