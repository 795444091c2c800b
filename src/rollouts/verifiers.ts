import { isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import {
  unreadValues,
  field,
  flagOrNull,
  has,
  idsOrNull,
  numberOrNull,
  numbersOrNull,
  objectAt,
  objectListAt,
  shown,
  textOrNull,
} from './jsonFields.ts';
import { ProblemError } from '../base/problem.ts';
import type { RolloutFormat, ReadingContext } from './rolloutFormat.ts';
import { callsOf, piecesOfMessage, withRole } from './messages.ts';
import { type Piece, segmentsOf } from './splitPattern.ts';
import {
  recordWithDefaults,
  countCalls,
  type RolloutRecord,
  type RolloutTokens,
  type Segment,
  type TokenChannel,
} from './rolloutRecord.ts';
import { wordsById } from './ownWords.ts';

/** The fields of a node that have an entry for each sampled token, with their channels. */
const SAMPLED_CHANNELS = {
  logprobs: 'sampledLogprob',
  advantages: 'advantage',
  reference_logprobs: 'refLogprob',
  trainer_logprobs: 'logprob',
  entropies: 'entropy',
  mismatch_kl: 'mismatchKl',
} as const satisfies Readonly<Record<string, TokenChannel>>;
/** The streams of `loss_weights`, with an entry for each token. prime-rl names them after its losses. */
const WEIGHT_CHANNELS = { rl: 'loss', ce: 'predicted' } as const satisfies Readonly<Record<string, TokenChannel>>;
type SampledKey = keyof typeof SAMPLED_CHANNELS;
const SAMPLED_KEYS = Object.keys(SAMPLED_CHANNELS) as SampledKey[];

/** `traces.jsonl` of verifiers and prime-rl, one Episode per line. Source: verifiers/v1/episode.py, trace.py, graph.py. */
export const verifiers: RolloutFormat = {
  name: 'verifiers',
  label: 'verifiers traces',
  keys: 'traces (or nodes)',
  recognises: (line) => has(line, 'traces') || has(line, 'nodes'),
  read: (line, context) => {
    const outsideEpisode = has(line, 'nodes') && field(line, 'traces') === undefined; // a trace outside an episode
    const traces = outsideEpisode ? [line] : objectListAt(line, 'traces');
    if (traces.length === 0 && field(line, 'ok') === false) return [failedEpisode(line)];
    return traces.map((trace) => readTrace(outsideEpisode ? {} : line, trace, context));
  },
};

/** An episode that failed before it had a trace: a rollout without text and reward. */
function failedEpisode(episode: JsonRecord): RolloutRecord {
  const task = objectAt(objectAt(episode, 'task'), 'data');
  return recordWithDefaults({
    id: textOrNull(episode, 'id'),
    step: stepOf(objectAt(episode, 'run')),
    group: textOrNull(objectAt(episode, 'group'), 'id'),
    task: textOrNull(task, 'prompt') ?? textOrNull(task, 'name'),
    stop: 'failed',
    segments: [],
    extras: unreadValues(episode, ['traces', 'id', 'group', 'task']),
  });
}

function readTrace(episode: JsonRecord, trace: JsonRecord, context: ReadingContext): RolloutRecord {
  const nodes = objectListAt(trace, 'nodes');
  const branch = lastBranch(nodes);
  const { segments, tokens } = readBranch(branch, trace, context);
  const run = objectAt(episode, 'run');
  const task = objectAt(objectAt(trace, 'task'), 'data');
  const metrics = objectAt(trace, 'metrics');
  const rewards = readRewards(trace);
  const leafCount = leafCountOf(nodes);
  const id = textOrNull(episode, 'id') ?? textOrNull(trace, 'id');
  const hasSeveralTraces = objectListAt(episode, 'traces').length > 1;
  return recordWithDefaults({
    id: hasSeveralTraces ? `${id ?? ''} ${textOrNull(objectAt(trace, 'agent'), 'name') ?? ''}` : id,
    step: stepOf(run),
    group: textOrNull(objectAt(episode, 'group'), 'id'),
    task: typeof task['prompt'] === 'string' ? task['prompt'] : textOrNull(task, 'name'),
    reward: rewards ? rewards.reduce((sum, [, amount]) => sum + amount, 0) : null,
    rewardParts: rewards ?? [],
    success: flagOrNull(metrics, 'success') ?? flagOrNull(metrics, 'correct'),
    stop: textOrNull(trace, 'stop_condition'),
    turns: branch.filter((node) => field(node, 'sampled') === true).length,
    toolCalls: listedCallCount(branch) ?? countCalls(segments),
    segments,
    tokens,
    extras: [
      ...(leafCount > 1 ? [['branches', `${leafCount}; the last is shown`] as const] : []),
      ...unreadValues(metrics, ['success']),
      ...unreadValues(trace, ['nodes', 'metrics', 'rewards', 'stop_condition', 'version', 'id', 'task']),
      ...unreadValues(episode, ['traces', 'id', 'group', 'task']),
    ],
  });
}

/** The training step at which a run was dispatched; if missing, the policy version with which it began. */
function stepOf(run: JsonRecord): number | null {
  const work = objectAt(run, 'work');
  return numberOrNull(work, 'step') ?? numberOrNull(objectAt(work, 'policy'), 'start');
}

/** The rewards by name, multiplied by their weights; null if nothing was scored. */
function readRewards(trace: JsonRecord): (readonly [string, number])[] | null {
  const rewards = objectAt(trace, 'rewards');
  const parts = Object.keys(rewards).flatMap((name) => {
    const reward = field(rewards, name);
    if (reward === undefined) return [];
    // verifiers 0.2 wrote the number alone, already multiplied by its weight
    if (typeof reward === 'number') return [[name, reward] as const];
    if (!isRecord(reward))
      throw new ProblemError({
        got: `${shown(reward)} for a reward`,
        want: 'a number, or {"score": number, "weight": number}',
      });
    const score = numberOrNull(reward, 'score');
    return score === null ? [] : [[name, score * (numberOrNull(reward, 'weight') ?? 1)] as const];
  });
  return parts.length > 0 ? parts : null;
}

function parentOf(node: JsonRecord, index: number): number | null {
  const parent = numberOrNull(node, 'parent');
  // parents come before their children, so walking up the tree always ends
  if (parent !== null && !(Number.isInteger(parent) && parent >= 0 && parent < index)) {
    throw new ProblemError({
      got: `the parent ${parent} of node ${index}`,
      want: `a node before it, 0 to ${index - 1}, or none`,
    });
  }
  return parent;
}

function leafCountOf(nodes: readonly JsonRecord[]): number {
  const parents = new Set(nodes.map(parentOf));
  return nodes.filter((_, i) => !parents.has(i)).length;
}

/** The nodes from a root to the leaf that was written last. */
function lastBranch(nodes: readonly JsonRecord[]): JsonRecord[] {
  const parents = nodes.map(parentOf);
  const path: JsonRecord[] = [];
  for (let at: number | null = nodes.length - 1; at !== null && at >= 0; at = parents[at] ?? null) {
    path.unshift(nodes[at] ?? {});
  }
  return path;
}

function listedCallCount(branch: readonly JsonRecord[]): number | null {
  const calls = branch.map((node) => callsOf(objectAt(node, 'message')).length);
  const sum = calls.reduce((total, count) => total + count, 0);
  return sum > 0 ? sum : null;
}

/** The stretches and tokens of nodes; a node has a `message`, or several as `messages`. */
export function readBranch(branch: readonly JsonRecord[], trace: JsonRecord, { pattern }: ReadingContext) {
  const pieces: { piece: Piece; from: number | null; to: number | null }[] = [];
  const arrays = branch.map(readNode);
  const words = wordsById(objectAt(trace, 'info'));
  let offset = 0;
  let agentSpoke = false;
  branch.forEach((node, i) => {
    const size = arrays[i]?.ids.length ?? 0;
    const role = field(node, 'sampled') === true ? 'assistant' : 'user';
    const messages = has(node, 'messages') ? objectListAt(node, 'messages') : [objectAt(node, 'message')];
    const messagePieces = messages.flatMap((message) => piecesOfMessage(withRole(message, role), pattern, agentSpoke));
    const sampled = field(node, 'sampled') !== false;
    const nodePieces: Piece[] = messagePieces.map((piece) =>
      piece.role === 'action' && !sampled ? { ...piece, role: 'prompt', kind: 'prompt' } : piece,
    );
    agentSpoke ||= nodePieces.some(({ role }) => role === 'action');
    const exactRanges = size > 0 && words ? rangesByWordCount(nodePieces, size) : null;
    nodePieces.forEach((piece, p) => {
      const wholeRange = nodePieces.length === 1 ? [offset, offset + size] : null;
      const [from, to] = exactRanges?.[p]?.map((t) => t + offset) ?? wholeRange ?? [];
      pieces.push({ piece, from: size > 0 ? (from ?? null) : null, to: size > 0 ? (to ?? null) : null });
    });
    offset += size;
  });
  const segments = segmentsOf(pieces.map(({ piece }) => piece));
  const nonBlank = pieces.filter(({ piece }) => piece.text.trim() !== '');
  return {
    segments: segments.map((segment, i): Segment => ({
      ...segment,
      from: nonBlank[i]?.from ?? null,
      to: nonBlank[i]?.to ?? null,
    })),
    tokens: offset > 0 ? concatenated(arrays, words) : null,
  };
}

/** The token range of each piece of a message, if each word is one token; null if the number of words is not `size`. */
function rangesByWordCount(pieces: readonly Piece[], size: number): (readonly [number, number])[] | null {
  let offset = 0;
  const ranges = pieces.map(({ text }) => {
    const count = text.split(' ').filter((word) => word !== '').length;
    offset += count;
    return [offset - count, offset] as const;
  });
  return offset === size ? ranges : null;
}

interface NodeTokens {
  readonly ids: readonly number[];
  readonly channels: Readonly<Partial<Record<TokenChannel, readonly (number | null)[]>>>;
}

/** The tokens that a node adds. Throws ProblemError if a list does not have the length that verifiers prescribes. */
function readNode(node: JsonRecord): NodeTokens {
  const ids = idsOrNull(node, 'token_ids') ?? [];
  const maskOrEmpty = numbersOrNull(node, 'mask');
  const mask = maskOrEmpty && maskOrEmpty.length > 0 ? numbersOrNull(node, 'mask', ids.length) : null;
  const channels: Partial<Record<TokenChannel, readonly (number | null)[]>> = {};
  if (mask) channels.sampled = mask;
  const count = mask?.filter((entry) => entry === 1).length ?? 0;
  for (const key of SAMPLED_KEYS) {
    const list = numbersOrNull(node, key);
    if (!list || list.length === 0) continue;
    if (list.length !== count)
      throw new ProblemError({
        got: `${list.length} entries in ${key}`,
        want: `${count}, one for each token with mask 1`,
      });
    let next = 0;
    channels[SAMPLED_CHANNELS[key]] = (mask ?? []).map((entry) => (entry === 1 ? (list[next++] ?? null) : null));
  }
  const weights = objectAt(node, 'loss_weights');
  for (const [key, channel] of Object.entries(WEIGHT_CHANNELS)) {
    const list = numbersOrNull(weights, key, ids.length);
    if (list) channels[channel] = list;
  }
  return { ids, channels };
}

/** Concatenates the tokens of nodes. A channel that only some nodes have is null at the tokens of the others. */
function concatenated(nodes: readonly NodeTokens[], words: ReadonlyMap<number, string> | null): RolloutTokens {
  const ids = nodes.flatMap((node) => node.ids);
  const names = [...new Set(nodes.flatMap(({ channels }) => Object.keys(channels) as TokenChannel[]))];
  const channels = names.map((name) => {
    return [name, nodes.flatMap((node) => node.channels[name] ?? node.ids.map(() => null))] as const;
  });
  return {
    ids,
    words: words && ids.map((id) => words.get(id) ?? `#${id}`),
    channels: Object.fromEntries(channels),
  };
}
