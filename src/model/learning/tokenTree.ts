import { contextsOf } from '../contexts.ts';
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
  batch: Batch,
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
    const builder = new TreeBuilder(batch, masks);
    for (const [i, path] of tree.entries()) {
      if (starts.has(i)) builder.startPart();
      builder.add(path, starts.has(i) ? 0 : path.known);
    }
    return builder.build();
  });
}

/** The paths at which the parts of a tree begin, except the first: as many parts as are large enough and repeat few tokens. */
function partStarts(tree: readonly Path[], maxParts: number): ReadonlySet<number> {
  const before = [0]; // nodes before each path
  for (const path of tree) before.push(before.at(-1)! + newNodes(path));
  const total = before.pop()!;
  for (let count = Math.min(maxParts, Math.floor(total / MIN_PART_TOKENS)); count > 1; count--) {
    // a cut costs the tokens that are computed again, and those by which the parts differ from equal ones
    const cost = (i: number, part: number) => tree[i]!.known + Math.abs(before[i]! - (part * total) / count);
    const starts = new Set<number>();
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
  return new Set();
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
function scoredTexts(batch: Batch, row: number, { head, value }: ScoreMasks): readonly ScoredText[] {
  const at = row * batch.length;
  return contextsOf(batch, row).flatMap(({ start, end }) => {
    let last = end - 1;
    while (last > start && !isScored(head, at + last) && !isScored(value, at + last)) last--;
    return last > start ? [{ start: at + start, text: batch.tokens.subarray(at + start, at + last + 1) }] : [];
  });
}

const isScored = (masks: ScoreMasks['head'], batchIndex: number) =>
  masks?.some((mask) => mask[batchIndex] !== 0) ?? true;

class TreeBuilder {
  readonly #batch: Batch;
  readonly #wanted: ScoreMasks;
  readonly #tokens: number[] = [];
  readonly #positions: number[] = [];
  readonly #first: number[] = [];
  readonly #table: number[] = [];
  readonly #targets = { positions: [] as number[], tokens: [] as number[], states: [] as number[], placesOf: [] as number[][] }; // prettier-ignore
  readonly #values = { positions: [] as number[], batchIndices: [] as number[] };
  readonly #parts: TokenRange[] = []; // all but the last
  #partStart = 0; // first node of the last part
  #pairs = 0;
  #pairsBefore = 0; // the last part
  #unsharedCount = 0;
  #path: readonly number[] = []; // nodes of the path that was added last
  readonly #targetIndices = new Map<number, number>(); // by node, token and grammar state

  constructor(batch: Batch, masks: ScoreMasks) {
    this.#batch = batch;
    this.#wanted = masks;
  }

  /** Begins a part with the path that is added next, which shares nothing. */
  startPart(): void {
    this.#parts.push(this.#lastPart());
    this.#partStart = this.#tokens.length;
    this.#pairsBefore = this.#pairs;
  }

  #lastPart(): TokenRange {
    const [from, pairsBefore] = [this.#partStart, this.#pairsBefore];
    return { index: this.#parts.length, from, count: this.#tokens.length - from, pairsBefore };
  }

  /** Adds a path that shares its first `shared` nodes with the one that was added last. */
  add({ start, text }: ScoredText, shared: number): void {
    const { head, value } = this.#wanted;
    const tableStart = this.#table.length;
    const nodes = this.#path.slice(0, shared);
    for (let t = shared; t + 1 < text.length; t++) nodes.push(this.#node(text[t]!, t, tableStart));
    for (let t = 1; t < text.length; t++) {
      const batchIndex = start + t;
      const node = nodes[t - 1]!;
      if (isScored(head, batchIndex)) this.#targets.placesOf[this.#target(node, batchIndex)]!.push(batchIndex);
      if (!isScored(value, batchIndex)) continue;
      this.#values.positions.push(node);
      this.#values.batchIndices.push(batchIndex);
    }
    for (const node of nodes) this.#table.push(node - this.#partStart);
    this.#unsharedCount += nodes.length;
    this.#path = nodes;
  }

  #node(token: number, position: number, tableStart: number): number {
    this.#tokens.push(token);
    this.#positions.push(position);
    this.#pairs += position + 1;
    this.#first.push(tableStart);
    return this.#tokens.length - 1;
  }

  /** The index of the target for this token after this node. One that was drawn in another grammar state is another target. */
  #target(node: number, batchIndex: number): number {
    const [token, state] = [this.#batch.tokens[batchIndex]!, this.#batch.states[batchIndex]!];
    const key = (node * MAX_TOKENS + token) * MAX_STATES + state;
    const known = this.#targetIndices.get(key);
    if (known !== undefined) return known;
    this.#targets.positions.push(node);
    this.#targets.tokens.push(token);
    this.#targets.states.push(state);
    const index = this.#targets.placesOf.push([]) - 1;
    this.#targetIndices.set(key, index);
    return index;
  }

  build(): TokenTree {
    const { positions, tokens, states, placesOf } = this.#targets;
    return {
      count: this.#tokens.length,
      tokens: Int32Array.from(this.#tokens),
      positions: Int32Array.from(this.#positions),
      first: Int32Array.from(this.#first),
      table: Int32Array.from(this.#table),
      parts: [...this.#parts, this.#lastPart()],
      unsharedCount: this.#unsharedCount,
      targets: {
        count: placesOf.length,
        positions: Int32Array.from(positions),
        tokens: Int32Array.from(tokens),
        states: Int32Array.from(states),
        batchIndexLists: placesOf,
      },
      values: {
        count: this.#values.batchIndices.length,
        positions: Int32Array.from(this.#values.positions),
        batchIndices: Int32Array.from(this.#values.batchIndices),
      },
    };
  }
}
