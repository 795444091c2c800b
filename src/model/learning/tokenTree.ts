import { contextsOf, type ContextRows } from '../contexts.ts';
import type { Batch, ScoreMasks } from './batchArrays.ts';
import { sharedBeginnings } from '../sharedBeginnings.ts';
import type { ValueTargets } from './valueHead.ts';

/**
 * Contexts of the batch's rows as a tree, so that a beginning that several contexts share runs only once. Node i is a
 * token. The tokens of its context, up to and including it, are the `positions[i] + 1` nodes in `table` from index
 * `first[i]` on.
 */
export interface TokenTree {
  readonly count: number; // n nodes
  readonly tokens: Int32Array; // (n) ids
  readonly positions: Int32Array; // (n) index within the context
  readonly first: Int32Array; // (n)
  readonly table: Int32Array; // the nodes of each context of the tree, at most B·T in all
  readonly parts: readonly TokenRange[]; // at least one; `table` counts nodes from the first of their part
  readonly unsharedCount: number; // nodes if no context shared its beginning
  readonly targets: TreeTargets;
  readonly values: ValueTargets;
}

/** Tokens of a pass that lie one after the other. A part of a tree is whole contexts, which share nothing with other parts. */
export interface TokenRange {
  readonly index: number; // among the parts
  readonly from: number; // first token
  readonly count: number;
  readonly pairsBefore: number; // pairs of a token and a token that it attends to, in the parts before
}

/**
 * The scored tokens: token `tokens[j]` after node `positions[j]`. Contexts with a common beginning share its targets, so
 * one target can stand for several tokens of the batch.
 */
export interface TreeTargets {
  readonly count: number; // m
  readonly positions: Int32Array; // (m) the node before the target
  readonly tokens: Int32Array; // (m)
  readonly states: Int32Array; // (m) grammar state that the token was drawn in
  readonly batchIndexLists: readonly (readonly number[])[]; // (m) (B,T) indices of the tokens that the target stands for
}

/** More than any vocabulary and any grammar has, so that a node, a token and its state fit into one number. */
const [MAX_TOKENS, MAX_STATES] = [2 ** 20, 2 ** 8];

/** Tokens of a part, at least: a smaller one takes little longer than handing it out. */
export const MIN_PART_TOKENS = 128;

/** Tokens that a division may compute again because two parts share them, as a share of all. */
const MAX_REPEATED = 1 / 8;

/** Rows without `states` have no grammar. */
type TreeRows = ContextRows & Partial<Pick<Batch, 'states'>>;

/** Tokens of a context up to its last scored one. */
interface ScoredText {
  readonly start: number; // (B,T) index of the first token
  readonly text: Int32Array; // ids
}

/** A path of a tree. `known` are the nodes that it shares with the path before. */
interface Path extends ScoredText {
  readonly known: number;
}

const newNodes = ({ text, known }: Path) => text.length - 1 - known;

/**
 * Returns the contexts of the rows as trees with at most `maxNodes` nodes each. The longest must fit into one tree. A
 * context runs up to the token before its last scored token. Its first token is never scored, because no token precedes
 * it. Without `sharePrefixes`, contexts share nothing. Each tree has up to `maxParts` parts. Contexts in different parts
 * share nothing, so that with several parts a tree may have a few nodes more. The division depends only on the rows.
 */
export function tokenTrees(
  batch: TreeRows,
  rows: Int32Array,
  masks: ScoreMasks,
  maxNodes: number,
  sharePrefixes: boolean,
  maxParts = 1,
): readonly TokenTree[] {
  const scored = Array.from(rows).flatMap((row) => scoredTexts(batch, row, masks));
  const trees: Path[][] = [];
  let nodes = 0; // of the last tree
  for (const { row: index, likeRow, shared } of sharedBeginnings(scored.map(({ text }) => text))) {
    // the path before this one is the last that the tree took, and its last token has no node
    const known = sharePrefixes ? Math.min(shared, scored[likeRow]!.text.length - 1) : 0;
    const path = { ...scored[index]!, known };
    const tree = trees.at(-1);
    if (tree && nodes + newNodes(path) <= maxNodes) {
      tree.push(path);
      nodes += newNodes(path);
    } else {
      trees.push([{ ...path, known: 0 }]);
      nodes = newNodes(trees.at(-1)![0]!);
    }
  }
  return trees.map((tree) => {
    const starts = partStarts(tree, maxParts);
    const paths = tree.map((path, i) => (starts.has(i) ? { ...path, known: 0 } : path));
    return buildTree(batch, masks, paths, starts);
  });
}

/** The paths at which the parts of a tree begin: as many parts as are large enough and repeat few tokens. */
function partStarts(tree: readonly Path[], maxParts: number): ReadonlySet<number> {
  const before = [0]; // nodes before each path
  for (const path of tree) before.push(before.at(-1)! + newNodes(path));
  const total = before.pop()!;
  for (let count = Math.min(maxParts, Math.floor(total / MIN_PART_TOKENS)); count > 1; count--) {
    // a cut costs the tokens that are computed again, and those by which the parts differ from equal ones
    const cost = (i: number, part: number) => tree[i]!.known + Math.abs(before[i]! - (part * total) / count);
    const starts = new Set([0]);
    for (let part = 1, i = 1; part < count; part++) {
      let best = i;
      for (let next = i; next < tree.length; next++) if (cost(next, part) < cost(best, part)) best = next;
      if (best >= tree.length) break;
      starts.add(best);
      i = best + 1;
    }
    const repeated = [...starts].reduce((sum, i) => sum + tree[i]!.known, 0);
    if (repeated <= MAX_REPEATED * total) return starts;
  }
  return new Set([0]);
}

/**
 * Returns a tree of the context of a row's token `count` − 1 up to that token, without targets. Throws RangeError if the
 * row has fewer tokens, or for no tokens.
 */
export function rowBeginning(batch: Batch, row: number, count: number): TokenTree {
  const length = batch.lengths[row] ?? 0;
  if (count < 1 || count > length) {
    throw new RangeError(`The question is about ${count} tokens, and row ${row} has 1 to ${length}.`);
  }
  const end = row * batch.length + count;
  const tokens = batch.tokens.slice(row * batch.length + batch.contextStarts[end - 1]!, end);
  const positions = Int32Array.from(tokens, (_, t) => t);
  const empty = new Int32Array();
  return {
    count: tokens.length,
    tokens,
    positions,
    first: new Int32Array(tokens.length),
    table: positions,
    parts: [{ index: 0, from: 0, count: tokens.length, pairsBefore: 0 }],
    unsharedCount: tokens.length,
    targets: { count: 0, positions: empty, tokens: empty, states: empty, batchIndexLists: [] },
    values: { count: 0, positions: empty, batchIndices: empty },
  };
}

/** Returns the tree with only the targets and values of the tokens in `masks`. */
export function restrictTargets(tree: TokenTree, { head, value }: ScoreMasks): TokenTree {
  const { positions, tokens, states, batchIndexLists } = tree.targets;
  const scoredTargets = Array.from(batchIndexLists, (batchIndices, j) => ({
    batchIndices: batchIndices.filter((batchIndex) => isScored(head, batchIndex)),
    j,
  }));
  const kept = scoredTargets.filter(({ batchIndices }) => batchIndices.length > 0);
  const pick = (array: Int32Array, indices: readonly number[]) => Int32Array.from(indices, (j) => array[j]!);
  const keptIndices = kept.map(({ j }) => j);
  const values = Array.from(tree.values.batchIndices, (_, j) => j).filter((j) =>
    isScored(value, tree.values.batchIndices[j]!),
  );
  return {
    ...tree,
    targets: {
      count: kept.length,
      positions: pick(positions, keptIndices),
      tokens: pick(tokens, keptIndices),
      states: pick(states, keptIndices),
      batchIndexLists: kept.map(({ batchIndices }) => batchIndices),
    },
    values: {
      count: values.length,
      positions: pick(tree.values.positions, values),
      batchIndices: pick(tree.values.batchIndices, values),
    },
  };
}

/** The contexts of a row that have a scored token. */
function scoredTexts(batch: TreeRows, row: number, { head, value }: ScoreMasks): readonly ScoredText[] {
  const at = row * batch.length;
  return contextsOf(batch, row).flatMap(({ start, end }) => {
    let last = end - 1;
    while (last > start && !isScored(head, at + last) && !isScored(value, at + last)) last--;
    return last > start ? [{ start: at + start, text: batch.tokens.subarray(at + start, at + last + 1) }] : [];
  });
}

function isScored(masks: ScoreMasks['head'], batchIndex: number): boolean {
  if (!masks) return true;
  for (const mask of masks) if (mask[batchIndex] !== 0) return true;
  return false;
}

/** A path begins with the first `known` nodes of the one before. The first path of a part has none. */
function buildTree(
  batch: TreeRows,
  { head, value }: ScoreMasks,
  paths: readonly Path[],
  starts: ReadonlySet<number>,
): TokenTree {
  const count = paths.reduce((sum, path) => sum + newNodes(path), 0);
  const unsharedCount = paths.reduce((sum, { text }) => sum + text.length - 1, 0);
  const [tokens, positions, first] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)];
  const table = new Int32Array(unsharedCount);
  const targets = { positions: [] as number[], tokens: [] as number[], states: [] as number[] };
  const values = { positions: [] as number[], batchIndices: [] as number[] };
  const parts: { from: number; pairsBefore: number }[] = [];
  const indexLists = new Map<number, number[]>(); // of each target
  /** The indices of the target for this token after this node. One that was drawn in another grammar state is another target. */
  const indicesOf = (node: number, batchIndex: number) => {
    const [token, state] = [batch.tokens[batchIndex]!, batch.states?.[batchIndex] ?? 0];
    const key = (node * MAX_TOKENS + token) * MAX_STATES + state;
    const known = indexLists.get(key);
    if (known) return known;
    targets.positions.push(node);
    targets.tokens.push(token);
    targets.states.push(state);
    const indices: number[] = [];
    indexLists.set(key, indices);
    return indices;
  };
  let [node, pairs] = [0, 0]; // counted so far
  let [at, length, from] = [0, 0, 0]; // where the path's nodes begin in the table; those of the path before; first node of the part
  for (const [i, { start, text, known }] of paths.entries()) {
    if (starts.has(i)) parts.push({ from: (from = node), pairsBefore: pairs });
    table.copyWithin(at, at - length, at - length + known);
    length = text.length - 1;
    for (let t = known; t < length; t++) {
      tokens[node] = text[t]!;
      positions[node] = t;
      first[node] = at;
      pairs += t + 1;
      table[at + t] = node++ - from;
    }
    for (let t = 0; t < length; t++) {
      const batchIndex = start + t + 1;
      const before = from + table[at + t]!;
      if (isScored(head, batchIndex)) indicesOf(before, batchIndex).push(batchIndex);
      if (!isScored(value, batchIndex)) continue;
      values.positions.push(before);
      values.batchIndices.push(batchIndex);
    }
    at += length;
  }
  return {
    count,
    tokens,
    positions,
    first,
    table,
    parts: parts.map((part, index) => ({ index, ...part, count: (parts[index + 1]?.from ?? count) - part.from })),
    unsharedCount,
    targets: {
      count: indexLists.size,
      positions: new Int32Array(targets.positions),
      tokens: new Int32Array(targets.tokens),
      states: new Int32Array(targets.states),
      batchIndexLists: [...indexLists.values()],
    },
    values: {
      count: values.batchIndices.length,
      positions: new Int32Array(values.positions),
      batchIndices: new Int32Array(values.batchIndices),
    },
  };
}
