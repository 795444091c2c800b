import type { Batch } from '../batchArrays.ts';
import { sharedBeginnings } from '../../sharedBeginnings.ts';
import type { Wanted } from '../packing.ts';
import type { ValueTargets } from '../valueHead.ts';

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
 * one target can cover several places.
 */
export interface TreeTargets {
  readonly count: number; // m
  readonly positions: Int32Array; // (m) the node before the target
  readonly tokens: Int32Array; // (m)
  readonly states: Int32Array; // (m) grammar state that the token was drawn in
  readonly placesOf: readonly (readonly number[])[]; // (m) (B,T) indices that the target covers
}

/** There are at most 256 grammar states, so a token and its state fit into one number. */
const STATES = 256;

/**
 * Returns the rows as trees with at most `most` nodes each. The longest row must fit into one tree. A row runs up to
 * the token before its last wanted token. Token 0 is never scored, because no token precedes it. Without `share`, rows
 * share nothing.
 */
export function tokenTrees(
  batch: Batch,
  rows: Int32Array,
  wanted: Wanted,
  most: number,
  share: boolean,
): readonly TokenTree[] {
  const texts = Array.from(rows, (row) => wantedText(batch, row, wanted));
  const plan = sharedBeginnings(texts);
  const trees: TreeBuilder[] = [];
  let tree: TreeBuilder | null = null;
  for (const { row: index, like, shared } of plan) {
    const text = texts[index]!;
    if (text.length < 2) continue;
    // rows without a wanted token are empty and come first, so the row before this one is the last that the tree took
    const common = share && tree ? shared : 0;
    const newNodes = text.length - 1 - (common > 0 ? Math.min(common, texts[like]!.length - 1) : 0);
    if (!tree || newNodes + tree.count > most) {
      tree = new TreeBuilder(batch, wanted);
      trees.push(tree);
      tree.add(rows[index]!, text, 0);
    } else tree.add(rows[index]!, text, common);
  }
  return trees.map((each) => each.built());
}

/** Returns the tree with only the targets and values of wanted tokens. */
export function wantedOf(tree: TokenTree, { head, value }: Wanted): TokenTree {
  const { positions, tokens, states, placesOf } = tree.targets;
  const scored = Array.from(placesOf, (places, j) => ({ places: places.filter((place) => isWanted(head, place)), j }));
  const kept = scored.filter(({ places }) => places.length > 0);
  const pick = (of: Int32Array, which: readonly number[]) => Int32Array.from(which, (j) => of[j]!);
  const ids = kept.map(({ j }) => j);
  const values = Array.from(tree.values.places, (_, j) => j).filter((j) => isWanted(value, tree.values.places[j]!));
  return {
    ...tree,
    targets: {
      count: kept.length,
      positions: pick(positions, ids),
      tokens: pick(tokens, ids),
      states: pick(states, ids),
      placesOf: kept.map(({ places }) => places),
    },
    values: {
      count: values.length,
      positions: pick(tree.values.positions, values),
      places: pick(tree.values.places, values),
    },
  };
}

/**
 * Returns the tokens of a row, combined with their states, up to the last wanted token. Empty if no token is wanted.
 */
function wantedText(batch: Batch, row: number, { head, value }: Wanted): number[] {
  const start = row * batch.length;
  let end = batch.lengths[row]! - 1;
  while (end > 0 && !isWanted(head, start + end) && !isWanted(value, start + end)) end--;
  if (end <= 0) return [];
  return Array.from({ length: end + 1 }, (_, t) => batch.tokens[start + t]! * STATES + batch.states[start + t]!);
}

const isWanted = (masks: Wanted['head'], place: number) => masks?.some((mask) => mask[place] !== 0) ?? true;

class TreeBuilder {
  readonly #batch: Batch;
  readonly #wanted: Wanted;
  readonly #tokens: number[] = [];
  readonly #positions: number[] = [];
  readonly #first: number[] = [];
  readonly #table: number[] = [];
  readonly #targets = { positions: [] as number[], tokens: [] as number[], states: [] as number[], placesOf: [] as number[][] }; // prettier-ignore
  readonly #values = { positions: [] as number[], places: [] as number[] };
  /** Nodes and targets of the previous row, by position. */
  #last: { readonly nodes: readonly number[]; readonly targets: readonly number[] } = { nodes: [], targets: [] };
  #rows = 0;

  constructor(batch: Batch, wanted: Wanted) {
    this.#batch = batch;
    this.#wanted = wanted;
  }

  get count(): number {
    return this.#tokens.length;
  }

  /** Adds a row that shares its first `common` tokens with the previous row. */
  add(row: number, text: readonly number[], common: number): void {
    const { length } = this.#batch;
    const { head, value } = this.#wanted;
    const nodes: number[] = [];
    const targets: number[] = [-1]; // target indices by position
    for (let t = 0; t + 1 < text.length; t++) {
      const known = t < common ? this.#last.nodes[t] : undefined;
      nodes.push(known ?? this.#node(text[t]!, t));
    }
    for (let t = 1; t < text.length; t++) {
      const place = row * length + t;
      const known = t < common ? this.#last.targets[t]! : -1;
      const target = known < 0 && isWanted(head, place) ? this.#target(nodes[t - 1]!, text[t]!) : known;
      if (target >= 0 && isWanted(head, place)) this.#targets.placesOf[target]!.push(place);
      targets.push(target);
      if (!isWanted(value, place)) continue;
      this.#values.positions.push(nodes[t - 1]!);
      this.#values.places.push(place);
    }
    for (let t = 0; t < length; t++) this.#table.push(nodes[t] ?? 0);
    this.#last = { nodes, targets };
    this.#rows++;
  }

  #node(key: number, position: number): number {
    this.#tokens.push(Math.floor(key / STATES));
    this.#positions.push(position);
    this.#first.push(this.#rows * this.#batch.length);
    return this.#tokens.length - 1;
  }

  #target(node: number, key: number): number {
    this.#targets.positions.push(node);
    this.#targets.tokens.push(Math.floor(key / STATES));
    this.#targets.states.push(key % STATES);
    return this.#targets.placesOf.push([]) - 1;
  }

  built(): TokenTree {
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
        placesOf,
      },
      values: {
        count: this.#values.places.length,
        positions: Int32Array.from(this.#values.positions),
        places: Int32Array.from(this.#values.places),
      },
    };
  }
}
