import type { BaseCheckpoint } from '../checkpoints/baseCheckpoint.ts';
import { type RunConfig, DEFAULTS, pickKnobs } from '../config/fields.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { EnvironmentFileError } from '../domain/environmentFile.ts';
import type { ToolEnv } from '../envs/env.ts';
import { causeOf } from '../gpu/device.ts';
import type { Weights, ModelConfig } from '../model/architecture.ts';
import type { Policy } from '../model/policy.ts';
import { checkState } from '../model/savedState.ts';
import type { RewardModel } from '../rl/rewardModel.ts';
import { CheckpointError, type Checkpoint } from '../runs/checkpoint.ts';
import type { RunEvent } from '../wire/commands.ts';
import { openPolicy } from './backend.ts';
import { KnobsError } from './backendKnobs.ts';
import type { Host } from './host.ts';
import { finishImitation } from './imitation.ts';
import { openRewardModel } from './openRewardModel.ts';
import type { StageProgress } from './stageProgress.ts';
import { TEXT_AGENT, TEXT_AGENT_SIZES } from '../config/textAgent.ts';
import { readWeightsFile } from '../model/weightsFile.ts';
import { SHIPPED_FILES, warmFile } from '../rl/warmStart.ts';

/**
 * Gives a new policy of a run without a base checkpoint the weights it opens with, as `warmStart` says, and returns
 * whether the run then has to imitate demonstrations. `shipped`: the shipped weights, if a file fits. `continued`: the
 * same weights, to be trained further by imitation. `train`, and also `shipped` and `continued` if no file fits: its
 * random weights stay, to be trained by imitation. `none`: they stay. Throws an error with the file's name if a file is
 * damaged.
 */
async function startWeights(
  policy: Policy,
  config: RunConfig,
  host: Pick<Host, 'shippedFile'>,
): Promise<{ readonly mustImitate: boolean }> {
  const { warmStart } = config;
  if (warmStart === 'none') return { mustImitate: false };
  const shipped = warmStart === 'train' ? null : await shippedStart(policy, config, host);
  if (shipped) policy.writeWeights(shipped);
  return { mustImitate: !shipped || warmStart !== 'shipped' };
}

// the knobs that define the shape of the network
const SHAPE_KNOBS = ['layers', 'width', 'heads', 'kvHeads', 'ffn', 'tieEmbeddings', 'attentionBias'] as const;

/** The shipped weights that fit a configuration; null if none do. The text model's value head is 0. */
async function shippedStart(
  { model }: Policy,
  config: RunConfig,
  { shippedFile }: Pick<Host, 'shippedFile'>,
): Promise<Weights | null> {
  if (config.language === 'text') {
    const shape = { ...pickKnobs(DEFAULTS, SHAPE_KNOBS), ...TEXT_AGENT_SIZES };
    if (SHAPE_KNOBS.some((name) => config[name] !== shape[name])) return null;
    return shippedWeights(model, `${TEXT_AGENT}/model.safetensors`, shippedFile);
  }
  const file = warmFile(config);
  return SHIPPED_FILES.includes(file) ? shippedWeights(model, `warm/${file}`, shippedFile) : null;
}

/** The weights of a file; null if there is no such file. Throws an error with the file's name if it is damaged. */
async function shippedWeights(
  model: ModelConfig,
  file: string,
  shippedFile: Host['shippedFile'],
): Promise<Weights | null> {
  const bytes = await shippedFile(file);
  if (!bytes) return null;
  try {
    return readWeightsFile(model, bytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${file}: ${why} Fetch it again, or set warmStart to train.`, { cause: error });
  }
}

/** Freezes the policy as the reference; with the teacher `shipped`, the shipped weights in its place. Throws KnobsError if none are shipped. */
async function freezeTeacher(policy: Policy, config: RunConfig, host: Pick<Host, 'shippedFile'>): Promise<void> {
  if (config.teacher !== 'shipped') {
    policy.freezeReference();
    return;
  }
  const shipped = await shippedStart(policy, config, host);
  if (!shipped) {
    const what = 'No weights are shipped for this task and these sizes of the model, so they can’t be the teacher.';
    throw new KnobsError(what, 'Set teacher to expert or start, or the task and the sizes as shipped.', ['teacher']);
  }
  const state = await policy.readState();
  policy.writeWeights(shipped);
  policy.freezeReference();
  policy.writeState(state);
}

export interface OpenedNetworks {
  readonly policy: Policy;
  readonly rewardModel: RewardModel | null;
  readonly openingWeights: Weights; // before any training; random if the checkpoint of a run without `base` has `start`
  readonly start: Weights | null; // the weights at the start of reinforcement learning; null until imitation is over
}

interface NetworkSources {
  readonly startConfig: RunConfig;
  readonly env: ToolEnv;
  readonly host: Host;
  readonly resumedFrom: Checkpoint | null;
  readonly base: BaseCheckpoint | null;
  readonly stage: StageProgress;
}

/**
 * Whether a saved run has no imitation before it: it was saved with the weights after imitation, or, by an earlier
 * version, during reinforcement learning. False without a saved run.
 */
export function hasImitated(from: Checkpoint | null): boolean {
  return from !== null && (from.start !== undefined || from.progress.update > 0);
}

/**
 * Opens the policy, with the weights of the start of the run or of its checkpoint, and the reward model. If the run
 * still has to imitate demonstrations, there is no reward model yet, and `start` is null.
 */
export async function openNetworks(
  { startConfig, env, host, resumedFrom, base, stage }: NetworkSources,
  onEvent: (event: RunEvent) => void,
): Promise<OpenedNetworks> {
  const policy = await openPolicy(startConfig, env, host, onEvent, {
    ...{ savedKernels: resumedFrom?.kernels, base },
    onProgress: (done, total) => stage.reportPart(done, total),
  });
  try {
    if (resumedFrom) checkFitsModel(resumedFrom, policy, env);
    const savedStart = resumedFrom?.start;
    const { mustImitate } = base
      ? { mustImitate: startConfig.warmStart !== 'none' }
      : savedStart
        ? { mustImitate: false }
        : await startWeights(policy, startConfig, host);
    const openingWeights = (await policy.readState()).policy.weights;
    if (savedStart) policy.writeWeights(savedStart);
    const isUnfinished = mustImitate && !hasImitated(resumedFrom);
    // earlier versions did not save the weights after imitation, so it is repeated
    if (mustImitate && !savedStart && !isUnfinished) await finishImitation({ policy, env, startConfig }, host, onEvent);
    await freezeTeacher(policy, startConfig, host);
    const start = isUnfinished ? null : (await policy.readState()).policy.weights;
    if (resumedFrom) policy.writeState(resumedFrom.networks);
    const config = resumedFrom?.config ?? startConfig;
    return {
      policy,
      openingWeights,
      start,
      rewardModel: start && openRewardModel(policy, config, resumedFrom, start),
    };
  } catch (error) {
    const cause = error instanceof CheckpointError ? error : await causeOf(error, policy.lost);
    policy.destroy();
    throw cause;
  }
}

/** Throws CheckpointError unless the checkpoint belongs to this model and this environment. */
function checkFitsModel({ begun, vocabulary, networks, base }: Checkpoint, policy: Policy, env: ToolEnv): void {
  if (!base && vocabulary.join('\n') !== env.vocabulary.join('\n')) {
    if (begun.env === YOUR_ENVIRONMENT) throw changedWordsError(vocabulary, env.vocabulary);
    throw new CheckpointError(
      `Its ${vocabulary.length} words are not the ${env.vocabulary.length} words of this environment.`,
    );
  }
  try {
    checkState(policy, begun.critic === 'separate', networks);
  } catch (error) {
    throw new CheckpointError(`Its networks are not this model's: ${error instanceof Error ? error.message : ''}`);
  }
}

/** The error for a saved run whose environment file has changed and now uses words that the run's model doesn't know. */
function changedWordsError(before: readonly string[], now: readonly string[]): EnvironmentFileError {
  const listed = (words: readonly string[]) => `${words.slice(0, 5).join(', ')}${words.length > 5 ? ', …' : ''}`;
  const newWords = now.filter((word) => !before.includes(word));
  const removedWords = before.filter((word) => !now.includes(word));
  const changes = [
    ...(newWords.length > 0 ? [`new: ${listed(newWords)}`] : []),
    ...(removedWords.length > 0 ? [`gone: ${listed(removedWords)}`] : []),
  ];
  return new EnvironmentFileError(
    `This file changes the words that the run’s model was trained with (${changes.join('; ') || 'their order'}). Restore those words, or train on the file in a new run.`,
    null,
  );
}
