import type { Batch, ScoreMasks } from './batchArrays.ts';
import { sharedBeginnings } from '../sharedBeginnings.ts';
import type { ValueTargets } from './valueHead.ts';

/**
 * Rows of the batch as a tree, so that a beginning shared by several rows runs only once. Node i is a token. The tokens
 * of its row, up to and including it, are the `counts[i]` nodes in `table` from index `first[i]` on.
 */
export interface TokenTree {
  readonly count: number; // n nodes
  readonly tokens: Int32Array; // (n) ids
  readonly positions: Int32Array; // (n) index within the row
  readonly first: Int32Array; // (n)
  readonly table: Int32Array; // (rows of the tree, T)
  readonly targets: TreeTargets;
  readonly values: ValueTargets;
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

/**
 * Returns the rows as trees with at most `maxNodes` nodes each. The longest row must fit into one tree. A row runs up
 * to the token before its last scored token. Token 0 is never scored, because no token precedes it. Without
 * `sharePrefixes`, rows share nothing.
 */
export function tokenTrees(
  batch: Batch,
  rows: Int32Array,
  masks: ScoreMasks,
  maxNodes: number,
  sharePrefixes: boolean,
): readonly TokenTree[] {
  const texts = Array.from(rows, (row) => scoredText(batch, row, masks));
  const plan = sharedBeginnings(texts);
  const trees: TreeBuilder[] = [];
  let tree: TreeBuilder | null = null;
  for (const { row: index, likeRow, shared } of plan) {
    const text = texts[index]!;
    if (text.length < 2) continue;
    // rows without a scored token are empty and come first, so the row before this one is the last that the tree took
    const sharedTokens = sharePrefixes && tree ? shared : 0;
    const newNodes = text.length - 1 - (sharedTokens > 0 ? Math.min(sharedTokens, texts[likeRow]!.length - 1) : 0);
    if (!tree || newNodes + tree.count > maxNodes) {
      tree = new TreeBuilder(batch, masks);
      trees.push(tree);
      tree.add(rows[index]!, text, 0);
    } else tree.add(rows[index]!, text, sharedTokens);
  }
  return trees.map((builder) => builder.build());
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
  /** Nodes and targets of the previous row, by position. */
  #previousRow: { readonly nodes: readonly number[]; readonly targets: readonly number[] } = { nodes: [], targets: [] };
  #rows = 0;

  constructor(batch: Batch, masks: ScoreMasks) {
    this.#batch = batch;
    this.#wanted = masks;
  }

  get count(): number {
    return this.#tokens.length;
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
    for (let t = 0; t < length; t++) this.#table.push(nodes[t] ?? 0);
    this.#previousRow = { nodes, targets };
    this.#rows++;
  }

  #node(tokenAndState: number, position: number): number {
    this.#tokens.push(Math.floor(tokenAndState / MAX_STATES));
    this.#positions.push(position);
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
      count: this.count,
      tokens: Int32Array.from(this.#tokens),
      positions: Int32Array.from(this.#positions),
      first: Int32Array.from(this.#first),
      table: Int32Array.from(this.#table),
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
