import { type ToolEnv, NO_REWARD_SETTINGS } from '../envs/env.ts';
import { demonstrator, playToEnd } from '../envs/players.ts';
import { openEpisode, type ShownAgain } from '../envs/stepper.ts';
import { type WarmStartRecipe, ENVIRONMENTS } from '../config/environments.ts';
import { learningRateAt } from '../config/imitationRecipe.ts';
import type { SuppliedCredit, Policy } from '../model/policy.ts';
import type { StepStats } from '../model/policyReport.ts';
import type { OptimizerSettings } from '../model/learningSettings.ts';
import { pcg4d, Purpose, random, streamKey } from '../base/rng.ts';
import { Role, tokenRecord, type TokenRecord } from '../domain/tokens.ts';
import { type EpisodeRecord, episodeRecord } from './episodeRecord.ts';
import { PLAIN_OBJECTIVE } from './objective.ts';
import type { RunConfig } from '../config/config.ts';

const ADAM: Omit<OptimizerSettings, 'learningRate'> = {
  criticLearningRate: 0,
  beta1: 0.9,
  beta2: 0.999,
  eps: 1e-5,
  weightDecay: 0,
  maxGradNorm: 1,
  criticOnly: false,
};

export interface DemonstratedEnv {
  readonly env: ToolEnv;
  readonly quality: number; // probability that the demonstrator chooses correctly at each choice
}

export interface WarmStart {
  readonly policy: Policy;
  readonly env: ToolEnv | readonly DemonstratedEnv[]; // rows alternate between several environments
  readonly shown?: ShownAgain | undefined; // see `EpisodeConditions`
  readonly seed: number;
  readonly recipe: () => WarmStartRecipe; // read before each step: the number of steps may shrink
  readonly yieldToEvents: () => Promise<void>;
}

/**
 * Imitates scripted, deliberately imperfect demonstrations with the same objective as RL. Yields after each step. Every
 * step has new episodes, unless the recipe repeats them. The optimizer is reset at the end.
 */
export async function* warmStart(start: WarmStart): AsyncGenerator<number> {
  for await (const step of imitationSteps(start, 0)) yield step;
  const { steps } = await start.policy.report();
  checkFinite(steps);
  await resetOptimizer(start.policy);
}

export interface ImitationStep {
  readonly step: number; // from 1
  readonly loss: number; // −mean log π of the demonstrator's tokens, before the step
}

/**
 * Runs the same warm start from step `done` + 1 on, and yields the loss of each step. If the policy has the weights and
 * moments after step `done`, the result equals an uninterrupted warm start, bit for bit. The optimizer is reset before
 * the last step is yielded.
 */
export async function* continueWarmStart(start: WarmStart, done: number): AsyncGenerator<ImitationStep> {
  const { policy, recipe } = start;
  for await (const step of imitationSteps(start, done)) {
    const { steps } = await policy.report();
    checkFinite(steps);
    if (step === recipe().steps) await resetOptimizer(policy);
    yield { step, loss: steps.at(-1)?.policyLoss ?? 0 };
  }
}

async function* imitationSteps(
  { policy, env, shown, seed, recipe, yieldToEvents }: WarmStart,
  done: number,
): AsyncGenerator<number, void> {
  // in state 0 all tokens are legal, so the policy learns the form of a turn instead of relying on the grammar mask
  const demonstrated = 'reset' in env ? [{ env, quality: recipe().quality }] : env;
  const [first] = demonstrated;
  if (!first) throw new RangeError('warmStart: there is no environment.');
  policy.setGrammar(first.env.grammar(true));
  const rows = Int32Array.from({ length: Math.min(recipe().rows ?? policy.rows, policy.rows) }, (_, row) => row);
  const { batches = Infinity } = recipe();
  const size = policy.rows * policy.length;
  const learned = rows.length * policy.length;
  const repeated = new Map<number, TokenRecord>(); // the rows that have an episode
  for (let step = done; step < recipe().steps; step++) {
    const batch = { seed, step: step % batches, rows: policy.rows, length: policy.length, shown };
    const played = repeated.get(batch.step) ?? demonstrations(demonstrated, batch, rows.length);
    const [tokens, roles, states] = [new Int32Array(size), new Uint8Array(size), new Uint8Array(size)];
    tokens.set(played.tokens);
    roles.set(played.roles);
    states.set(played.states);
    const contextStarts = played.contextStarts && new Int32Array(size);
    contextStarts?.set(played.contextStarts ?? []);
    if (batches < Infinity)
      repeated.set(batch.step, {
        tokens: tokens.slice(0, learned),
        roles: roles.slice(0, learned),
        states: states.slice(0, learned),
        ...(contextStarts && { contextStarts: contextStarts.slice(0, learned) }),
      });
    policy.load(tokenRecord({ tokens, roles, states, contextStarts }), imitationCredit({ roles }));
    await policy.learn(rows, PLAIN_OBJECTIVE, { ...ADAM, learningRate: learningRateAt(recipe(), step) }, 1);
    await yieldToEvents();
    yield step + 1;
  }
}

function checkFinite(steps: readonly StepStats[]): void {
  const badStep = steps.find(({ skipped }) => skipped === 'non-finite');
  if (badStep) throw new Error(`warmStart: ${badStep.culprit} became non-finite. Use a lower learning rate.`);
}

async function resetOptimizer(policy: Policy): Promise<void> {
  const { policy: network } = await policy.readState();
  policy.writeWeights(network.weights);
}

/** Only the first `count` rows have one. Rows alternate between environments. The demonstrator's tokens have the action role. */
export function demonstrations(
  demonstrated: readonly DemonstratedEnv[],
  batch: Pick<WarmStart, 'seed' | 'shown'> & {
    readonly step: number;
    readonly rows: number;
    readonly length: number;
  },
  count = batch.rows,
): EpisodeRecord {
  const record = episodeRecord(batch.rows, batch.length);
  const task = new Uint32Array(4);
  for (let row = 0; row < count; row++) {
    pcg4d(streamKey(batch.seed, Purpose.demonstration), batch.step, row, 0, task);
    const seed = (task[0] ?? 0) & 0x7fffffff;
    const { env, quality } = demonstrated[row % demonstrated.length]!;
    const conditions = {
      ...{ env, settings: NO_REWARD_SETTINGS, begin: env.demonstration, maxTokens: batch.length },
      ...(batch.shown && { shown: batch.shown }),
    };
    const draw = random(batch.seed, Purpose.demonstration, batch.step, row + batch.rows);
    const { tokens: written } = playToEnd(
      openEpisode(conditions, { seed, environmentSeed: seed }),
      demonstrator(quality, draw),
    );
    for (const { token, role, turn, contextStart } of written)
      record.push(row, token, { role, turn, grammarState: 0, logprob: 0, contextStart });
  }
  return record;
}

/** Advantage 1 and a policy loss at every action token, none elsewhere. */
function imitationCredit({ roles }: Pick<EpisodeRecord, 'roles'>): SuppliedCredit {
  const actionMask = Float32Array.from(roles, (role) => (role === Role.action ? 1 : 0));
  const zeros = () => new Float32Array(roles.length);
  return {
    oldLogprobs: zeros(),
    refLogprobs: zeros(),
    advantages: actionMask,
    lossMask: actionMask.slice(),
    valueMask: zeros(),
    oldValues: zeros(),
    returns: zeros(),
  };
}

/** Files of warm-start weights under `public/warm/`, made by `npm run warmstart`. */
export const SHIPPED_FILES: readonly string[] = [
  'number-hunt-16-d32-l2-h4-4-f96.safetensors',
  'multi-hop-12x3-2-d32-l2-h4-4-f96.safetensors',
  'document-search-top1-turns3-d32-l2-h4-4-f96.safetensors',
  'world-facts-12x3-2-d32-l2-h4-4-f96.safetensors',
  'calculator-2-d32-l2-h4-4-f96.safetensors',
  'countdown-2-d32-l2-h4-4-f96.safetensors',
];

/** Contains everything that vocabulary, demonstrations and tensors depend on. The file exists only if SHIPPED_FILES lists it. */
export function warmFile(config: RunConfig): string {
  const variants = [
    ...(config.think === 'on' ? ['think'] : []),
    ...(config.tieEmbeddings === 'off' ? ['untied'] : []),
    ...(config.attentionBias === 'on' ? ['bias'] : []),
  ];
  const model = `d${config.width}-l${config.layers}-h${config.heads}-${config.kvHeads}-f${config.ffn}`;
  return `${[ENVIRONMENTS[config.env].weightsName(config), model, ...variants].join('-')}.safetensors`;
}
