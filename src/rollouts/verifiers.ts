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
import { callsOf, piecesOfMessage, spokenBy } from './messages.ts';
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

/** Fields of a node with an entry for each sampled token. */
const SAMPLED = {
  logprobs: 'sampledLogprob',
  advantages: 'advantage',
  reference_logprobs: 'refLogprob',
  trainer_logprobs: 'logprob',
  entropies: 'entropy',
} as const satisfies Readonly<Record<string, TokenChannel>>;
type Sampled = keyof typeof SAMPLED;
const SAMPLED_KEYS = Object.keys(SAMPLED) as Sampled[];

/** `traces.jsonl` of verifiers and prime-rl, an Episode a line. Source: verifiers/v1/episode.py, trace.py, graph.py. */
export const verifiers: Format = {
  name: 'verifiers',
  label: 'verifiers traces',
  keys: 'traces (or nodes)',
  recognises: (line) => has(line, 'traces') || has(line, 'nodes'),
  read: (line, context) => {
    const alone = has(line, 'nodes') && field(line, 'traces') === undefined; // a trace that no episode is around
    const traces = alone ? [line] : objectsOf(line, 'traces');
    return traces.map((trace) => readTrace(alone ? {} : line, trace, context));
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
  const several = objectsOf(episode, 'traces').length > 1;
  return bareRecord({
    id: several ? `${id ?? ''} ${textOrNull(objectOf(trace, 'agent'), 'name') ?? ''}` : id,
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

/** The training step at which it was dispatched, or else the policy it began with. */
function stepOf(run: JsonRecord): number | null {
  const work = objectOf(run, 'work');
  return numberOrNull(work, 'step') ?? numberOrNull(objectOf(work, 'policy'), 'start');
}

/** Rewards by name, times their weights; null where nothing was scored. */
function readRewards(trace: JsonRecord): (readonly [string, number])[] | null {
  const rewards = objectOf(trace, 'rewards');
  const parts = Object.keys(rewards).flatMap((name) => {
    const reward = field(rewards, name);
    if (reward === undefined) return [];
    if (!isRecord(reward))
      throw new ProblemError({ got: 'a reward that is no object', want: '{"score": number, "weight": number}' });
    const score = numberOrNull(reward, 'score');
    return score === null ? [] : [[name, score * (numberOrNull(reward, 'weight') ?? 1)] as const];
  });
  return parts.length > 0 ? parts : null;
}

function parentOf(node: JsonRecord, at: number): number | null {
  const parent = numberOrNull(node, 'parent');
  // a parent stands before its children: no walk is endless
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
  let spoken = false;
  path.forEach((node, i) => {
    const size = arrays[i]?.ids.length ?? 0;
    const message = spokenBy(objectOf(node, 'message'), field(node, 'sampled') === true ? 'assistant' : 'user');
    const found = piecesOfMessage(message, pattern, spoken);
    const sampled = field(node, 'sampled') !== false;
    const own: Piece[] = found.map((piece) =>
      piece.role === 'action' && !sampled ? { ...piece, role: 'prompt', kind: 'prompt' } : piece,
    );
    spoken ||= own.some(({ role }) => role === 'action');
    const exact = size > 0 && words ? placed(own, size) : null;
    own.forEach((piece, p) => {
      const whole = own.length === 1 ? [at, at + size] : null;
      const [from, to] = exact?.[p]?.map((t) => t + at) ?? whole ?? [];
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

/** Where each piece of a message lies among its tokens, where a word is a token: null where the counts do not agree. */
function placed(pieces: readonly Piece[], size: number): (readonly [number, number])[] | null {
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

/** The tokens a node adds. Throws ProblemError where a list has another length than verifiers asks for. */
function readNode(node: JsonRecord): NodeTokens {
  const ids = idsOrNull(node, 'token_ids') ?? [];
  const given = numbersOrNull(node, 'mask');
  const mask = given && given.length > 0 ? numbersOrNull(node, 'mask', ids.length) : null;
  const channels: Partial<Record<TokenChannel, readonly (number | null)[]>> = {};
  if (mask) channels.sampled = mask;
  const count = mask?.filter((entry) => entry === 1).length ?? 0;
  for (const key of SAMPLED_KEYS) {
    const list = numbersOrNull(node, key);
    if (!list || list.length === 0) continue;
    if (list.length !== count)
      throw new ProblemError({
        got: `${list.length} entries in ${key}`,
        want: `${count}, one for each token that mask names`,
      });
    let next = 0;
    channels[SAMPLED[key]] = (mask ?? []).map((entry) => (entry === 1 ? (list[next++] ?? null) : null));
  }
  const weights = objectOf(node, 'loss_weights');
  const loss = numbersOrNull(weights, 'rl', ids.length);
  if (loss) channels.loss = loss;
  return { ids, channels };
}

/** Nodes' tokens one after the other; a channel that any of them has is null where another has it not. */
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
