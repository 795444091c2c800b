import { alignUp, slice, type Arena, type Tensor } from '../../gpu/tensor.ts';
import { Role, type TokenRecord } from '../../domain/tokens.ts';
import type { DecodeChunk, DecodedChunk } from '../decoding.ts';
import type { PolicySpec } from '../policy.ts';
import { checkContextStarts, lastStart, type ContextRows } from '../contexts.ts';
import type { ScoreMasks } from '../learning/batchArrays.ts';
import { tokenTrees, type TokenTree } from '../learning/tokenTree.ts';

const EMPTY = 0xffffffff; // in an unused target
/** Every token is a target: masks and values are on the device. */
const EVERY_TOKEN: ScoreMasks = { head: [], value: null };
/** Passes compute a multiple of this many nodes: as many rows as a workgroup of the products takes at once. */
const BLOCK_NODES = 16;

/**
 * The tokens of a micro-batch of at most R rows, without padding. They form trees: node n is a token, and beginnings that
 * contexts share have their nodes once. Nodes are in depth-first order. A context's last token has no node, because
 * nothing follows it.
 */
export interface MicroBatchTokens {
  readonly whole: Tensor; // all of the following
  readonly nodes: Tensor; // (N,4): token; position in its context; first node of its tree; one past the last node under it
  readonly positions: Tensor; // (N) position in its context
  readonly starts: Tensor; // (N + 1): the targets of node n are those from `starts[n]` to `starts[n + 1]` − 1
  readonly targets: Tensor; // (M,2): a node, and the (B,T) index of a token after it; both 0xffffffff: no target
}

/** Where they begin in `whole`, in words. */
interface Layout {
  readonly capacity: number; // nodes
  readonly targets: number; // M
  readonly positionsAt: number;
  readonly startsAt: number;
  readonly targetsAt: number;
  readonly size: number;
}

function layoutOf(R: number, T: number): Layout {
  const capacity = nodeCapacity(R, T);
  const positionsAt = alignUp(4 * capacity);
  const startsAt = positionsAt + alignUp(capacity);
  const targetsAt = startsAt + alignUp(capacity + 1);
  const targets = Math.max(1, R * (T - 1));
  return { capacity, targets, positionsAt, startsAt, targetsAt, size: targetsAt + alignUp(2 * targets) };
}

/** Nodes of R rows of T tokens that share nothing. */
export function nodeCapacity(R: number, T: number): number {
  return BLOCK_NODES * Math.ceil((R * Math.max(1, T - 1)) / BLOCK_NODES);
}

/** Numbers of nodes to record passes for, in ascending order: the eighths of the capacity. */
export function nodeCounts(R: number, T: number): readonly number[] {
  const capacity = nodeCapacity(R, T);
  const eighths = Array.from({ length: 8 }, (_, k) => BLOCK_NODES * Math.ceil((capacity * (k + 1)) / 8 / BLOCK_NODES));
  return [...new Set(eighths)];
}

export function declareMicroBatchTokens(arena: Arena, R: number, T: number): MicroBatchTokens {
  const { capacity, targets, positionsAt, startsAt, targetsAt, size } = layoutOf(R, T);
  const whole = arena.declare('micro-batch tokens', [size], ['rows', 'length']);
  return {
    whole,
    nodes: slice(whole, 'nodes', 0, [capacity, 4]),
    positions: slice(whole, 'positions', positionsAt, [capacity]),
    starts: slice(whole, 'starts of targets', startsAt, [capacity + 1]),
    targets: slice(whole, 'targets of nodes', targetsAt, [targets, 2]),
  };
}

/** Words of the tokens of one micro-batch. */
export function microBatchWords(R: number, T: number): number {
  return layoutOf(R, T).size;
}

/** What passes over some rows compute. */
export interface PlacedTokens {
  readonly words: Uint32Array<ArrayBuffer>; // of one micro-batch after the other, each as `MicroBatchTokens`
  readonly nodes: readonly number[]; // nodes of each micro-batch
  readonly tokens: number; // tokens that follow another in their context: as many nodes if no beginning is shared
}

/** Builds the trees of micro-batches on the CPU. So it keeps the tokens of the batch, which are decoded or loaded. */
export class TokenPlacer implements ContextRows {
  private readonly layout: Layout;
  private readonly R: number;
  readonly length: number; // T
  private readonly sharePrefixes: boolean;
  private readonly words: Uint32Array<ArrayBuffer>; // used again by each `place`
  readonly tokens: Int32Array; // (B,T)
  readonly lengths: Int32Array; // (B)
  readonly contextStarts: Int32Array; // (B,T)
  private last: { readonly rows: Int32Array; readonly placed: PlacedTokens } | null = null; // null after the tokens changed

  /** For at most `rowSlots` rows, a multiple of R. Without `sharePrefixes`, rows share nothing. */
  constructor(
    { rows, length }: Pick<PolicySpec, 'rows' | 'length'>,
    R: number,
    rowSlots: number,
    sharePrefixes: boolean,
  ) {
    this.tokens = new Int32Array(rows * length);
    this.lengths = new Int32Array(rows);
    this.contextStarts = new Int32Array(rows * length);
    this.layout = layoutOf(R, length);
    this.R = R;
    this.length = length;
    this.sharePrefixes = sharePrefixes;
    this.words = new Uint32Array((rowSlots / R) * this.layout.size);
  }

  /** Replaces the rows of the batch. Padding at a row's end determines its length. */
  load({ tokens, roles, contextStarts }: TokenRecord): void {
    this.last = null;
    const { length: T } = this;
    this.tokens.set(tokens);
    for (let row = 0; row < this.lengths.length; row++) {
      let length = T;
      while (length > 0 && roles[row * T + length - 1] === Role.pad) length--;
      this.lengths[row] = length;
    }
    if (contextStarts) checkContextStarts(contextStarts, this.lengths, T);
    this.contextStarts.set(contextStarts ?? new Int32Array(tokens.length));
  }

  clear(row?: number): void {
    this.last = null;
    if (row === undefined) this.lengths.fill(0);
    else this.lengths[row] = 0;
  }

  /** Appends to each row the forced tokens of a chunk, after those that stay. */
  appendForced({ forced, forcedCounts, maxTokens, restarts, kept = this.lengths }: DecodeChunk): void {
    this.last = null;
    for (const [row, count] of forcedCounts.entries()) {
      this.lengths[row] = Math.min(this.lengths[row]!, kept[row]!);
      this.append(row, forced.subarray(row * maxTokens, row * maxTokens + count), restarts?.[row] === 1);
    }
  }

  /** Appends to each row the drawn tokens of a chunk of up to `maxTokens`. */
  appendDrawn(maxTokens: number, { tokens, counts }: DecodedChunk): void {
    this.last = null;
    for (const [row, count] of counts.entries())
      this.append(row, tokens.subarray(row * maxTokens, row * maxTokens + count), false);
  }

  private append(row: number, added: Int32Array, restarts: boolean): void {
    const length = this.lengths[row]!;
    const [at, end] = [row * this.length + length, length + added.length];
    this.tokens.set(added, at);
    this.contextStarts.fill(restarts ? length : lastStart(this, row), at, row * this.length + end);
    this.lengths[row] = end;
  }

  /**
   * Places these rows, R in each micro-batch. The next call overwrites the words, unless it is for the same rows and no
   * token has changed: it then returns the same object.
   */
  place(rows: Int32Array): PlacedTokens {
    if (this.last?.rows.length === rows.length && this.last.rows.every((row, i) => row === rows[i]))
      return this.last.placed;
    const placed = this.placeAnew(rows);
    this.last = { rows: rows.slice(), placed };
    return placed;
  }

  private placeAnew(rows: Int32Array): PlacedTokens {
    const { size } = this.layout;
    const count = Math.max(1, Math.ceil(rows.length / this.R));
    const trees = Array.from({ length: count }, (_, k) =>
      this.placeRows(rows.subarray(k * this.R, (k + 1) * this.R), this.words.subarray(k * size, (k + 1) * size)),
    );
    const tokens = trees.reduce((sum, tree) => sum + (tree?.unsharedCount ?? 0), 0);
    return { words: this.words.subarray(0, count * size), nodes: trees.map((tree) => tree?.count ?? 0), tokens };
  }

  /** Returns the tree; undefined for rows without a token after another. */
  private placeRows(rows: Int32Array, words: Uint32Array): TokenTree | undefined {
    const { capacity, positionsAt, startsAt, targetsAt } = this.layout;
    const [tree] = tokenTrees(this, rows, EVERY_TOKEN, capacity, this.sharePrefixes);
    writeNodes(tree, words.subarray(0, 4 * capacity), words.subarray(positionsAt, positionsAt + capacity));
    const starts = words.subarray(startsAt, startsAt + capacity + 1).fill(0);
    const targets = words.subarray(targetsAt).fill(EMPTY);
    if (!tree) return;
    const { positions, batchIndices } = tree.values;
    for (const node of positions) starts[node + 1]!++;
    for (let n = 0; n < capacity; n++) starts[n + 1]! += starts[n]!;
    const next = starts.slice();
    for (let j = 0; j < positions.length; j++) {
      const at = 2 * next[positions[j]!]!++;
      targets[at] = positions[j]!;
      targets[at + 1] = batchIndices[j]!;
    }
    return tree;
  }
}

/**
 * Writes the nodes of a tree as the kernels read them (see MicroBatchTokens), and their positions. Unused nodes are trees
 * of one token, so that what is computed of them is finite; nothing reads it.
 */
export function writeNodes(tree: TokenTree | undefined, nodes: Uint32Array, positions: Uint32Array): void {
  const path: number[] = []; // the last node and those before it in its context
  const endFrom = (position: number, end: number) => {
    while (path.length > position) nodes[4 * path.pop()! + 3] = end;
  };
  for (let n = 0; n < positions.length; n++) {
    const position = tree?.positions[n] ?? 0;
    endFrom(position, n);
    path.push(n);
    nodes[4 * n] = tree?.tokens[n] ?? 0;
    nodes[4 * n + 1] = positions[n] = position;
    nodes[4 * n + 2] = path[0]!;
  }
  endFrom(0, positions.length);
}
