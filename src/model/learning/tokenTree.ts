import type { Batch, ScoreMasks } from './batchArrays.ts';
import { sharedBeginnings } from '../sharedBeginnings.ts';
import type { ValueTargets } from './valueHead.ts';

/**
 * Rows of the batch as a tree, so that a beginning shared by several rows runs only once. Node i is a token. The tokens
 * of its row, up to and including it, are the `positions[i] + 1` nodes in `table` from index `first[i]` on.
 */
export interface TokenTree {
  readonly count: number; // n nodes
  readonly tokens: Int32Array; // (n) ids
  readonly positions: Int32Array; // (n) index within the row
  readonly first: Int32Array; // (n)
  readonly table: Int32Array; // (rows of the tree, T)
  readonly parts: readonly TokenRange[]; // at least one; `table` counts nodes from the first of their part
  readonly unsharedCount: number; // nodes if no row shared its beginning
  readonly targets: TreeTargets;
  readonly values: ValueTargets;
}

/** Tokens of a pass that lie one after the other. A part of a tree is whole rows, which share nothing with other parts. */
export interface TokenRange {
  readonly index: number; // among the parts
  readonly from: number; // first token
  readonly count: number;
  readonly pairsBefore: number; // pairs of a token and a token that it attends to, in the parts before
}

/**
 * The scored tokens: token `tokens[j]` after node `positions[j]`. Rows with a common beginning share its targets, so
 * one target can stand for several tokens of the batch.
 */
export interface TreeTargets {
  readonly count: number; // m
  readonly positions: Int32Array; // (m) the node before the target
  readonly tokens: Int32Array; // (m)
  readonly states: Int32Array; // (m) grammar state that the token was drawn in
  readonly batchIndexLists: readonly (readonly number[])[]; // (m) (B,T) indices of the tokens that the target stands for
}

/** There are at most 256 grammar states, so a token and its state fit into one number. */
const MAX_STATES = 256;

/** Tokens of a part, at least: a smaller one takes little longer than handing it out. */
export const MIN_PART_TOKENS = 128;

/** Tokens that a division may compute again because two parts share them, as a share of all. */
const MAX_REPEATED = 1 / 8;

/** A row of a tree. `known` are the nodes that it shares with the row before, which has the same first `shared` tokens. */
interface PlannedRow {
  readonly row: number;
  readonly text: readonly number[];
  readonly shared: number;
  readonly known: number;
}

const newNodes = ({ text, known }: PlannedRow) => text.length - 1 - known;

/**
 * Returns the rows as trees with at most `maxNodes` nodes each. The longest row must fit into one tree. A row runs up
 * to the token before its last scored token. Token 0 is never scored, because no token precedes it. Without
 * `sharePrefixes`, rows share nothing. Each tree has up to `maxParts` parts. Rows in different parts share nothing, so
 * that with several parts a tree may have a few nodes more. The division depends only on the rows.
 */
export function tokenTrees(
  batch: Batch,
  rows: Int32Array,
  masks: ScoreMasks,
  maxNodes: number,
  sharePrefixes: boolean,
  maxParts = 1,
): readonly TokenTree[] {
  const texts = Array.from(rows, (row) => scoredText(batch, row, masks));
  const trees: PlannedRow[][] = [];
  let nodes = 0; // of the last tree
  for (const { row: index, likeRow, shared } of sharedBeginnings(texts)) {
    const text = texts[index]!;
    if (text.length < 2) continue;
    const row = { row: rows[index]!, text, shared: 0, known: 0 };
    // rows without a scored token are empty and come first, so the row before this one is the last that the tree took
    const sharedTokens = sharePrefixes && trees.length > 0 ? shared : 0;
    const known = sharedTokens > 0 ? Math.min(sharedTokens, texts[likeRow]!.length - 1) : 0;
    const added = { ...row, shared: sharedTokens, known };
    const tree = trees.at(-1);
    if (tree && nodes + newNodes(added) <= maxNodes) {
      tree.push(added);
      nodes += newNodes(added);
    } else {
      trees.push([row]);
      nodes = newNodes(row);
    }
  }
  return trees.map((tree) => {
    const starts = partStarts(tree, maxParts);
    const builder = new TreeBuilder(batch, masks);
    for (const [i, { row, text, shared }] of tree.entries()) {
      if (starts.has(i)) builder.startPart();
      builder.add(row, text, starts.has(i) ? 0 : shared);
    }
    return builder.build();
  });
}

/** The rows at which the parts of a tree begin, except the first: as many parts as are large enough and repeat few tokens. */
function partStarts(tree: readonly PlannedRow[], maxParts: number): ReadonlySet<number> {
  const before = [0]; // nodes before each row
  for (const row of tree) before.push(before.at(-1)! + newNodes(row));
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

/** Returns a tree of the first `count` tokens of a row, without targets. Throws RangeError if the row has fewer, or for no tokens. */
export function rowBeginning(batch: Batch, row: number, count: number): TokenTree {
  const length = batch.lengths[row] ?? 0;
  if (count < 1 || count > length) {
    throw new RangeError(`The question is about ${count} tokens, and row ${row} has 1 to ${length}.`);
  }
  const start = row * batch.length;
  const positions = Int32Array.from({ length: count }, (_, t) => t);
  const empty = new Int32Array();
  return {
    count,
    tokens: batch.tokens.slice(start, start + count),
    positions,
    first: new Int32Array(count),
    table: positions,
    parts: [{ index: 0, from: 0, count, pairsBefore: 0 }],
    unsharedCount: count,
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

/** Combined with their grammar states, up to the last scored token; empty if no token is scored. */
function scoredText(batch: Batch, row: number, { head, value }: ScoreMasks): number[] {
  const start = row * batch.length;
  let end = batch.lengths[row]! - 1;
  while (end > 0 && !isScored(head, start + end) && !isScored(value, start + end)) end--;
  if (end <= 0) return [];
  return Array.from({ length: end + 1 }, (_, t) => batch.tokens[start + t]! * MAX_STATES + batch.states[start + t]!);
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
  /** Nodes and targets of the previous row, by position. */
  #previousRow: { readonly nodes: readonly number[]; readonly targets: readonly number[] } = { nodes: [], targets: [] };
  #rows = 0;

  constructor(batch: Batch, masks: ScoreMasks) {
    this.#batch = batch;
    this.#wanted = masks;
  }

  /** Begins a part with the row that is added next, which shares nothing. */
  startPart(): void {
    this.#parts.push(this.#lastPart());
    this.#partStart = this.#tokens.length;
    this.#pairsBefore = this.#pairs;
  }

  #lastPart(): TokenRange {
    const [from, pairsBefore] = [this.#partStart, this.#pairsBefore];
    return { index: this.#parts.length, from, count: this.#tokens.length - from, pairsBefore };
  }

  /** Adds a row that shares its first `sharedTokens` tokens with the previous row. */
  add(row: number, text: readonly number[], sharedTokens: number): void {
    const { length } = this.#batch;
    const { head, value } = this.#wanted;
    const nodes: number[] = [];
    const targets: number[] = [-1]; // target indices by position
    for (let t = 0; t + 1 < text.length; t++) {
      const knownNode = t < sharedTokens ? this.#previousRow.nodes[t] : undefined;
      nodes.push(knownNode ?? this.#node(text[t]!, t));
    }
    for (let t = 1; t < text.length; t++) {
      const batchIndex = row * length + t;
      const knownTarget = t < sharedTokens ? this.#previousRow.targets[t]! : -1;
      const target =
        knownTarget < 0 && isScored(head, batchIndex) ? this.#target(nodes[t - 1]!, text[t]!) : knownTarget;
      if (target >= 0 && isScored(head, batchIndex)) this.#targets.placesOf[target]!.push(batchIndex);
      targets.push(target);
      if (!isScored(value, batchIndex)) continue;
      this.#values.positions.push(nodes[t - 1]!);
      this.#values.batchIndices.push(batchIndex);
    }
    for (let t = 0; t < length; t++) this.#table.push(t < nodes.length ? nodes[t]! - this.#partStart : 0);
    this.#unsharedCount += nodes.length;
    this.#previousRow = { nodes, targets };
    this.#rows++;
  }

  #node(tokenAndState: number, position: number): number {
    this.#tokens.push(Math.floor(tokenAndState / MAX_STATES));
    this.#positions.push(position);
    this.#pairs += position + 1;
    this.#first.push(this.#rows * this.#batch.length);
    return this.#tokens.length - 1;
  }

  #target(node: number, tokenAndState: number): number {
    this.#targets.positions.push(node);
    this.#targets.tokens.push(Math.floor(tokenAndState / MAX_STATES));
    this.#targets.states.push(tokenAndState % MAX_STATES);
    return this.#targets.placesOf.push([]) - 1;
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
