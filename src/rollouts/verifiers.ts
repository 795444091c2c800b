import { isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import {
  extrasOf,
  field,
  flagOrNull,
  has,
  idsOrNull,
  numberOrNull,
  numbersOrNull,
  objectOf,
  objectsOf,
  textOrNull,
} from './jsonFields.ts';
import { ProblemError } from '../base/problem.ts';
import type { Format, ReadingContext } from './rolloutFormat.ts';
import { callsOf, piecesOfMessage, withRole } from './messages.ts';
import { type Piece, segmentsOf } from './splitPattern.ts';
import {
  bareRecord,
  countCalls,
  type RolloutRecord,
  type RolloutTokens,
  type Segment,
  type TokenChannel,
} from './rolloutRecord.ts';
import { wordsIn } from './ownWords.ts';

/** The fields of a node that have an entry for each sampled token, with their channels. */
const SAMPLED_CHANNELS = {
  logprobs: 'sampledLogprob',
  advantages: 'advantage',
  reference_logprobs: 'refLogprob',
  trainer_logprobs: 'logprob',
  entropies: 'entropy',
} as const satisfies Readonly<Record<string, TokenChannel>>;
type SampledKey = keyof typeof SAMPLED_CHANNELS;
const SAMPLED_KEYS = Object.keys(SAMPLED_CHANNELS) as SampledKey[];

/**
 * `traces.jsonl` of verifiers and prime-rl, one Episode per line. Source: verifiers/v1/episode.py, trace.py, graph.py.
 */
export const verifiers: Format = {
  name: 'verifiers',
  label: 'verifiers traces',
  keys: 'traces (or nodes)',
  recognises: (line) => has(line, 'traces') || has(line, 'nodes'),
  read: (line, context) => {
    const bareTrace = has(line, 'nodes') && field(line, 'traces') === undefined; // a trace outside an episode
    const traces = bareTrace ? [line] : objectsOf(line, 'traces');
    return traces.map((trace) => readTrace(bareTrace ? {} : line, trace, context));
  },
};

function readTrace(episode: JsonRecord, trace: JsonRecord, context: ReadingContext): RolloutRecord {
  const nodes = objectsOf(trace, 'nodes');
  const path = lastBranch(nodes);
  const { segments, tokens } = readPath(path, trace, context);
  const run = objectOf(episode, 'run');
  const task = objectOf(objectOf(trace, 'task'), 'data');
  const metrics = objectOf(trace, 'metrics');
  const rewards = readRewards(trace);
  const leaves = countLeaves(nodes);
  const id = textOrNull(episode, 'id') ?? textOrNull(trace, 'id');
  const hasSeveralTraces = objectsOf(episode, 'traces').length > 1;
  return bareRecord({
    id: hasSeveralTraces ? `${id ?? ''} ${textOrNull(objectOf(trace, 'agent'), 'name') ?? ''}` : id,
    step: stepOf(run),
    group: textOrNull(objectOf(episode, 'group'), 'id'),
    task: typeof task['prompt'] === 'string' ? task['prompt'] : textOrNull(task, 'name'),
    reward: rewards ? rewards.reduce((sum, [, amount]) => sum + amount, 0) : null,
    rewardParts: rewards ?? [],
    success: flagOrNull(metrics, 'success') ?? flagOrNull(metrics, 'correct'),
    stop: textOrNull(trace, 'stop_condition'),
    turns: path.filter((node) => field(node, 'sampled') === true).length,
    toolCalls: callsIn(path) ?? countCalls(segments),
    segments,
    tokens,
    extras: [
      ...(leaves > 1 ? [['branches', `${leaves}; the last is shown`] as const] : []),
      ...extrasOf(metrics, ['success']),
      ...extrasOf(trace, ['nodes', 'metrics', 'rewards', 'stop_condition', 'version', 'id', 'task']),
      ...extrasOf(episode, ['traces', 'id', 'group', 'task']),
    ],
  });
}

/** The training step at which a run was dispatched; if missing, the policy version with which it began. */
function stepOf(run: JsonRecord): number | null {
  const work = objectOf(run, 'work');
  return numberOrNull(work, 'step') ?? numberOrNull(objectOf(work, 'policy'), 'start');
}

/** The rewards by name, multiplied by their weights; null if nothing was scored. */
function readRewards(trace: JsonRecord): (readonly [string, number])[] | null {
  const rewards = objectOf(trace, 'rewards');
  const parts = Object.keys(rewards).flatMap((name) => {
    const reward = field(rewards, name);
    if (reward === undefined) return [];
    if (!isRecord(reward))
      throw new ProblemError({ got: 'a reward that is not an object', want: '{"score": number, "weight": number}' });
    const score = numberOrNull(reward, 'score');
    return score === null ? [] : [[name, score * (numberOrNull(reward, 'weight') ?? 1)] as const];
  });
  return parts.length > 0 ? parts : null;
}

function parentOf(node: JsonRecord, at: number): number | null {
  const parent = numberOrNull(node, 'parent');
  // parents come before their children, so walking up the tree always ends
  if (parent !== null && !(Number.isInteger(parent) && parent >= 0 && parent < at)) {
    throw new ProblemError({
      got: `the parent ${parent} of node ${at}`,
      want: `a node before it, 0 to ${at - 1}, or none`,
    });
  }
  return parent;
}

function countLeaves(nodes: readonly JsonRecord[]): number {
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

function callsIn(path: readonly JsonRecord[]): number | null {
  const calls = path.map((node) => callsOf(objectOf(node, 'message')).length);
  const sum = calls.reduce((total, count) => total + count, 0);
  return sum > 0 ? sum : null;
}

/** The segments and tokens along a branch. */
function readPath(path: readonly JsonRecord[], trace: JsonRecord, { pattern }: ReadingContext) {
  const pieces: { piece: Piece; from: number | null; to: number | null }[] = [];
  const arrays = path.map(readNode);
  const words = wordsIn(objectOf(trace, 'info'));
  let at = 0;
  let agentSpoke = false;
  path.forEach((node, i) => {
    const size = arrays[i]?.ids.length ?? 0;
    const message = withRole(objectOf(node, 'message'), field(node, 'sampled') === true ? 'assistant' : 'user');
    const found = piecesOfMessage(message, pattern, agentSpoke);
    const sampled = field(node, 'sampled') !== false;
    const nodePieces: Piece[] = found.map((piece) =>
      piece.role === 'action' && !sampled ? { ...piece, role: 'prompt', kind: 'prompt' } : piece,
    );
    agentSpoke ||= nodePieces.some(({ role }) => role === 'action');
    const placedExactly = size > 0 && words ? placeByWordCount(nodePieces, size) : null;
    nodePieces.forEach((piece, p) => {
      const wholeRange = nodePieces.length === 1 ? [at, at + size] : null;
      const [from, to] = placedExactly?.[p]?.map((t) => t + at) ?? wholeRange ?? [];
      pieces.push({ piece, from: size > 0 ? (from ?? null) : null, to: size > 0 ? (to ?? null) : null });
    });
    at += size;
  });
  const segments = segmentsOf(pieces.map(({ piece }) => piece));
  const kept = pieces.filter(({ piece }) => piece.text.trim() !== '');
  return {
    segments: segments.map((segment, i): Segment => ({
      ...segment,
      from: kept[i]?.from ?? null,
      to: kept[i]?.to ?? null,
    })),
    tokens: at > 0 ? joined(arrays, words) : null,
  };
}

/** The token range of each piece of a message, if each word is one token; null if the number of words is not `size`. */
function placeByWordCount(pieces: readonly Piece[], size: number): (readonly [number, number])[] | null {
  let at = 0;
  const places = pieces.map(({ text }) => {
    const count = text.split(' ').filter((word) => word !== '').length;
    at += count;
    return [at - count, at] as const;
  });
  return at === size ? places : null;
}

interface NodeTokens {
  readonly ids: readonly number[];
  readonly channels: Readonly<Partial<Record<TokenChannel, readonly (number | null)[]>>>;
}

/** The tokens that a node adds. Throws ProblemError if a list does not have the length that verifiers prescribes. */
function readNode(node: JsonRecord): NodeTokens {
  const ids = idsOrNull(node, 'token_ids') ?? [];
  const givenMask = numbersOrNull(node, 'mask');
  const mask = givenMask && givenMask.length > 0 ? numbersOrNull(node, 'mask', ids.length) : null;
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
  const weights = objectOf(node, 'loss_weights');
  const loss = numbersOrNull(weights, 'rl', ids.length);
  if (loss) channels.loss = loss;
  return { ids, channels };
}

/** Concatenates the tokens of nodes. A channel that only some nodes have is null at the tokens of the others. */
function joined(nodes: readonly NodeTokens[], words: ReadonlyMap<number, string> | null): RolloutTokens {
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
