import { isCount } from '../base/jsonRecord.ts';
import { checksumOf } from '../base/checksum.ts';
import { parseConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import { ProblemError } from '../base/problem.ts';
import type { RunConfig } from '../config/fields.ts';
import type { PackedPairs, RewardModelMemory } from '../domain/preferences.ts';
import type { BaseMark } from '../domain/baseMark.ts';
import type { ChatTokenizerFiles } from '../domain/chatTokenizerFiles.ts';
import { TRACKS, type Progress, type TrackMemory } from '../domain/progress.ts';

/** Version of the layout below and of how the trainer continues from it. A save of another version can't be continued. */
const VERSION = 3;

/** Tensors by Hugging Face name, row-major float32. */
export type Tensors = ReadonlyMap<string, Float32Array>;

/** A network with its optimizer. */
export interface SavedNetwork {
  readonly weights: Tensors;
  readonly adamM: Tensors;
  readonly adamV: Tensors;
  readonly steps: number; // AdamW steps taken
}
export interface SavedPolicy {
  readonly policy: SavedNetwork;
  readonly critic: SavedNetwork | null;
}

/** A reward model with its optimizer, the pairs it has collected and a person's choices among them. */
export interface SavedRewardModel {
  readonly network: SavedNetwork;
  readonly memory: RewardModelMemory;
}

/** A policy's weights as they were after an update. */
export interface SavedWeights {
  readonly after: number; // 0: before the first update
  readonly weights: Tensors;
}

/** A run between two updates, as plain data: everything needed to continue with the same bits on the same backend. */
export interface Checkpoint {
  readonly version: typeof VERSION;
  readonly begun: RunConfig; // the knobs when the run began; warm start and reference are computed from them
  readonly config: RunConfig; // the knobs now
  readonly vocabulary: readonly string[];
  readonly kernels?: string; // on a GPU: name of the kernel set; other kernels round differently
  readonly networks: SavedPolicy;
  readonly rewardModel: SavedRewardModel | null;
  readonly progress: Progress;
  readonly chatTokenizer?: ChatTokenizerFiles; // of a text model; absent if the model uses the words of `vocabulary`
  /** The checkpoint that the networks are adapters for; the vocabulary is then in the checkpoint. */
  readonly base?: BaseMark;
  /**
   * The weights at the start of reinforcement learning, if they can't be computed again from the seed: weights of
   * another program, weights of a run in an environment that a person wrote, or adapters after imitation.
   */
  readonly start?: Tensors;
  /** Weights after earlier updates, ascending; absent if no later update will draw with them. */
  readonly earlier?: readonly SavedWeights[];
  readonly sum: string; // checksum of everything else, because browser storage may be damaged
}

/** Makes a checkpoint of its parts and adds the checksum. Copies `progress` but not the networks. */
export function checkpointOf(parts: Omit<Checkpoint, 'version' | 'sum'>): Checkpoint {
  const checkpoint = { ...parts, version: VERSION, progress: structuredClone(parts.progress) } as const;
  return { ...checkpoint, sum: sumOf(checkpoint) };
}

function sumOf(checkpoint: object): string {
  return checksumOf({ ...checkpoint, sum: null });
}

/** A checkpoint that continues with the knobs `config`; its checksum is recomputed. */
export function withKnobs(checkpoint: Checkpoint, config: RunConfig): Checkpoint {
  return checkpointOf({ ...checkpoint, config });
}

/** The arrays of a checkpoint, by the names under which every kind of storage keeps them. */
export type CheckpointTensors = ReadonlyMap<string, Float32Array | Int32Array | Uint8Array>;

/** The sets of tensors that a network has: its weights and AdamW's two moments. */
export const TENSOR_SETS = ['weights', 'adamM', 'adamV'] as const;
export const PAIR_KINDS = ['fitted', 'heldOut', 'persons'] as const;
/** The lists that store the pairs of one kind. */
export const PAIR_LISTS = ['lengths', 'tokens', 'roles'] as const;

export const POLICY_WEIGHTS_PREFIX = 'policy.weights.';

type LearnedParts = Pick<Checkpoint, 'networks' | 'rewardModel' | 'start' | 'earlier'>;

/**
 * All arrays of a checkpoint by name. Weights are `policy.weights.NAME`, AdamW's moments `policy.adamM.NAME` and
 * `policy.adamV.NAME`, with `critic` or `reward_model` in place of `policy` for the other networks. The weights at the
 * start are `policy.start.NAME`, those after an earlier update `policy.earlier.UPDATE.NAME`, the reward model's pairs `reward_model.pairs.KIND.LIST`. Nothing is copied.
 */
export function checkpointTensors({ networks, rewardModel, start, earlier = [] }: LearnedParts): CheckpointTensors {
  const tensors = new Map<string, Float32Array | Int32Array | Uint8Array>();
  const addTensors = (prefix: string, tensorsByName: Tensors) => {
    for (const [name, values] of tensorsByName) tensors.set(`${prefix}.${name}`, values);
  };
  const addNetwork = (owner: string, network: SavedNetwork) => {
    for (const setName of TENSOR_SETS) addTensors(`${owner}.${setName}`, network[setName]);
  };
  addNetwork('policy', networks.policy);
  if (start) addTensors('policy.start', start);
  for (const { after, weights } of earlier) addTensors(`policy.earlier.${after}`, weights);
  if (networks.critic) addNetwork('critic', networks.critic);
  if (rewardModel) addNetwork('reward_model', rewardModel.network);
  for (const kind of rewardModel ? PAIR_KINDS : []) {
    for (const list of PAIR_LISTS) {
      tensors.set(`reward_model.pairs.${kind}.${list}`, rewardModel?.memory[kind][list] ?? new Int32Array());
    }
  }
  return tensors;
}

export function checkpointBytes(checkpoint: LearnedParts): number {
  return Array.from(checkpointTensors(checkpoint).values()).reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** For example `weight NAME`, `critic moment NAME` or `reward model weight NAME`; '' if all numbers are finite. */
export function firstNonFinite(checkpoint: LearnedParts): string {
  const badTensor = [...checkpointTensors(checkpoint)].find(([, values]) => !isFinite(values));
  if (!badTensor) return '';
  const [owner = '', setName = '', ...name] = badTensor[0].split('.');
  const kind = { weights: 'weight', start: 'first weight', earlier: 'earlier weight' }[setName] ?? 'moment';
  return `${owner === 'policy' ? '' : `${owner.replace('_', ' ')} `}${kind} ${name.join('.')}`;
}

function isFinite(values: Float32Array | Int32Array | Uint8Array): boolean {
  // x·0 is 0 for a finite x and NaN otherwise; a sum with a NaN stays NaN
  let zero = 0;
  for (const x of values) zero += x * 0;
  return zero === 0;
}

/** A save that can’t be continued. It has its own class because the page then offers a new run. */
export class CheckpointError extends ProblemError {
  override readonly name = 'CheckpointError';
}

/**
 * Reads a checkpoint from the browser's storage. Another version of the page may have written it, or it may be
 * damaged. Throws CheckpointError for another version, invalid knobs, a tensor that is not a float32 array or not
 * finite, invalid progress or pairs, and a checksum that does not match. It does not check whether the tensors fit the
 * model.
 */
export function readCheckpoint(value: unknown): Checkpoint {
  const saved = asRecord(value, 'the save');
  if (saved['version'] !== VERSION) {
    throw new CheckpointError(`It is of version ${String(saved['version'])}; this page reads version ${VERSION}.`);
  }
  const { policy, critic } = asRecord(saved['networks'], 'networks');
  const networks = { policy: readNetwork(policy), critic: critic === null ? null : readNetwork(critic) };
  const rewardModel = saved['rewardModel'] === null ? null : readRewardModel(saved['rewardModel']);
  const start = saved['start'] === undefined ? null : readTensors(saved['start']);
  const earlier = saved['earlier'] === undefined ? null : readEarlier(saved['earlier']);
  const badTensor = firstNonFinite({ networks, rewardModel, ...(start && { start }), ...(earlier && { earlier }) });
  if (badTensor) throw new CheckpointError(`${badTensor} holds a number that is not finite.`);
  const { vocabulary } = saved;
  if (!Array.isArray(vocabulary) || !vocabulary.every((word) => typeof word === 'string')) {
    throw new CheckpointError('Its vocabulary is not a list of words.');
  }
  const parts = {
    begun: readConfig(saved['begun']),
    config: readConfig(saved['config']),
    vocabulary,
    ...(typeof saved['kernels'] === 'string' && { kernels: saved['kernels'] }),
    networks,
    rewardModel,
    progress: readProgress(saved['progress']),
    ...(saved['chatTokenizer'] !== undefined && { chatTokenizer: readChatTokenizer(saved['chatTokenizer']) }),
    ...(saved['base'] !== undefined && { base: readBase(saved['base']) }),
    ...(start && { start }),
    ...(earlier && { earlier }),
  };
  const checksum = sumOf(saved);
  if (saved['sum'] !== checksum) throw new CheckpointError(damageText(saved['sum'], checksum));
  return checkpointOf(parts); // recomputes the checksum, because fields that this page does not know are dropped
}

/** The message for a checksum that doesn't match the contents. */
export function damageText(sum: unknown, contentSum: string): string {
  return `It was damaged after it was saved: its checksum is ${typeof sum === 'string' ? sum : 'missing'}, its contents give ${contentSum}.`;
}

function readChatTokenizer(value: unknown): ChatTokenizerFiles {
  const { tokenizer, template, stops } = asRecord(value, 'its chat tokenizer');
  if (typeof tokenizer !== 'string' || typeof template !== 'string' || !Array.isArray(stops)) {
    throw new CheckpointError('Its chat tokenizer must have a tokenizer, a chat template and a list of ids.');
  }
  return { tokenizer, template, stops: stops.map(readCount) };
}

function readBase(value: unknown): BaseMark {
  const { name, sha256, whole, bytes } = asRecord(value, 'its base');
  const isSum = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f]{64}$/.test(text);
  if (typeof name !== 'string' || !isSum(sha256) || !(whole === undefined || isSum(whole))) {
    throw new CheckpointError('Its base must have a name and a SHA-256.');
  }
  return { name, sha256, ...(whole !== undefined && { whole }), bytes: readCount(bytes) };
}

function readConfig(value: unknown): RunConfig {
  try {
    return parseConfig(asRecord(value, 'its knobs'));
  } catch (error) {
    if (error instanceof ConfigError) throw new CheckpointError(`Its knobs: ${error.message}`);
    throw error;
  }
}

function readNetwork(value: unknown): SavedNetwork {
  const { weights, adamM, adamV, steps } = asRecord(value, 'a network');
  return {
    weights: readTensors(weights),
    adamM: readTensors(adamM),
    adamV: readTensors(adamV),
    steps: readCount(steps),
  };
}

function readRewardModel(value: unknown): SavedRewardModel {
  const { network, memory } = asRecord(value, 'its reward model');
  const { pairs, clicks, observed, fits, fitted, heldOut, persons } = asRecord(memory, "its reward model's memory");
  return {
    network: readNetwork(network),
    memory: {
      ...{ pairs: readCount(pairs), clicks: readCount(clicks), observed: readCount(observed), fits: readCount(fits) },
      fitted: readPairs(fitted, 'fits'),
      heldOut: readPairs(heldOut, 'holds out'),
      persons: readPairs(persons, 'was taught by a person'),
    },
  };
}

function readEarlier(value: unknown): readonly SavedWeights[] {
  if (!Array.isArray(value)) throw new CheckpointError('Its weights of earlier updates are not a list.');
  return value.map((each) => {
    const { after, weights } = asRecord(each, 'weights of an earlier update');
    return { after: readCount(after), weights: readTensors(weights) };
  });
}

function readPairs(value: unknown, which: string): PackedPairs {
  const { lengths, tokens, roles } = asRecord(value, `the pairs its reward model ${which}`);
  const isValid =
    lengths instanceof Int32Array &&
    lengths.length % 2 === 0 &&
    lengths.every((length) => length > 0) &&
    tokens instanceof Int32Array &&
    roles instanceof Uint8Array &&
    [tokens, roles].every((list) => list.length === lengths.reduce((sum, length) => sum + length, 0));
  if (isValid) return { lengths, tokens, roles };
  throw new CheckpointError(`The pairs its reward model ${which} can’t be read as pairs of rollouts.`);
}

function readTensors(value: unknown): Tensors {
  const entries: unknown[] = value instanceof Map ? [...value] : [];
  const tensors = new Map<string, Float32Array>();
  for (const entry of entries) {
    const [name, tensor] = entry as readonly [unknown, unknown];
    if (typeof name === 'string' && tensor instanceof Float32Array) tensors.set(name, tensor);
  }
  if (tensors.size === 0 || tensors.size < entries.length)
    throw new CheckpointError('It has something else in place of a network’s tensors.');
  return tensors;
}

function readProgress(value: unknown): Progress {
  const { imitated, tries = [], evaluated, update, empty, penalty, monitor } = asRecord(value, 'progress');
  const { knob, current } = asRecord(penalty, 'penalty');
  const { tracks, state, since, held, free, vanished, dominated, heard, best, kind } = asRecord(monitor, 'monitor');
  const trackValues = asRecord(tracks, 'tracks');
  const names = TRACKS.filter((name) => trackValues[name] !== undefined);
  if (state !== 'ok' && state !== 'watch' && state !== 'trap') {
    throw new CheckpointError(`Its monitor's state is ${String(state)}, which is unknown.`);
  }
  return {
    imitated: readCount(imitated),
    tries: readTries(tries),
    evaluated: evaluated === true,
    update: readCount(update),
    empty: readCount(empty),
    penalty: { knob: readFinite(knob), current: readFinite(current) },
    monitor: {
      tracks: Object.fromEntries(names.map((name) => [name, readTrack(trackValues[name])])),
      state,
      since: readCount(since),
      held: readCount(held),
      free: readCount(free),
      vanished: readCount(vanished),
      heard: heard === null ? null : readFinite(heard),
      best: best === null ? null : readFinite(best),
      kind: kind === 'collapse' || kind === 'blind' ? kind : null,
      ...(dominated !== undefined && { dominated: readCount(dominated) }),
    },
  };
}

function readTries(value: unknown): Progress['tries'] {
  if (!Array.isArray(value)) throw new CheckpointError('Its tries during imitation are not a list.');
  return value.map((each) => {
    const { step, solved, expert, played } = asRecord(each, 'a try');
    return { step: readCount(step), solved: readCount(solved), expert: readCount(expert), played: readCount(played) };
  });
}

function readTrack(value: unknown): TrackMemory {
  const { last, from } = asRecord(value, 'a track');
  if (!Array.isArray(last)) throw new CheckpointError('One of its monitor’s tracks is not a list of numbers.');
  return { last: last.map(readFinite), from: from === null ? null : readFinite(from) };
}

function asRecord(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null)
    throw new CheckpointError({ place: what, got: String(value), want: 'an object' });
  return value as Readonly<Record<string, unknown>>;
}

function readFinite(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new CheckpointError(`It has ${String(value)} in place of a number.`);
}

function readCount(value: unknown): number {
  if (isCount(value)) return value;
  throw new CheckpointError(`It has ${String(value)} in place of a count.`);
}
