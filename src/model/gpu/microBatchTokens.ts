import { alignUp, slice, type Arena, type Tensor } from '../../gpu/tensor.ts';
import { Role, type TokenRecord } from '../../domain/tokens.ts';
import type { DecodeChunk, DecodedChunk } from '../decoding.ts';
import type { PolicySpec } from '../policy.ts';
import { sharedBeginnings } from '../sharedBeginnings.ts';

const EMPTY = 0xffffffff; // in an unused target
/** Passes compute a multiple of this many nodes: as many rows as a workgroup of the products takes at once. */
const BLOCK_NODES = 16;

/**
 * The tokens of a micro-batch of at most R rows, without padding. They form trees: node n is a token, and beginnings that
 * rows share have their nodes once. Nodes are in depth-first order. A row's last token has no node, because nothing
 * follows it.
 */
export interface MicroBatchTokens {
  readonly whole: Tensor; // all of the following
  readonly nodes: Tensor; // (N,4): token; position in its row; first node of its tree; one past the last node under it
  readonly positions: Tensor; // (N) position in its row
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
  readonly tokens: number; // tokens that follow another in all rows: as many nodes if no row shares a beginning
}

/** Builds the trees of micro-batches on the CPU. So it keeps the tokens of the batch, which are decoded or loaded. */
export class TokenPlacer {
  private readonly layout: Layout;
  private readonly R: number;
  private readonly T: number;
  private readonly sharePrefixes: boolean;
  private readonly words: Uint32Array<ArrayBuffer>; // used again by each `place`
  private readonly path: Int32Array; // (T) nodes of the last row
  private readonly tokens: Int32Array; // (B,T)
  private readonly lengths: Int32Array; // (B)

  /** For at most `rowSlots` rows, a multiple of R. Without `sharePrefixes`, rows share nothing. */
  constructor(
    { rows, length }: Pick<PolicySpec, 'rows' | 'length'>,
    R: number,
    rowSlots: number,
    sharePrefixes: boolean,
  ) {
    this.tokens = new Int32Array(rows * length);
    this.lengths = new Int32Array(rows);
    this.layout = layoutOf(R, length);
    this.R = R;
    this.T = length;
    this.sharePrefixes = sharePrefixes;
    this.words = new Uint32Array((rowSlots / R) * this.layout.size);
    this.path = new Int32Array(length);
  }

  /** Replaces the rows of the batch. Padding at a row's end determines its length. */
  load({ tokens, roles }: TokenRecord): void {
    const { T } = this;
    this.tokens.set(tokens);
    for (let row = 0; row < this.lengths.length; row++) {
      let length = T;
      while (length > 0 && roles[row * T + length - 1] === Role.pad) length--;
      this.lengths[row] = length;
    }
  }

  /** Empties a row, or all of them. */
  clear(row?: number): void {
    if (row === undefined) this.lengths.fill(0);
    else this.lengths[row] = 0;
  }

  /** Appends to each row the forced and the drawn tokens of a chunk. */
  append({ forced, forcedCounts, maxTokens }: DecodeChunk, { tokens, counts }: DecodedChunk): void {
    for (let row = 0; row < this.lengths.length; row++) {
      const at = row * maxTokens;
      for (const added of [forced.subarray(at, at + forcedCounts[row]!), tokens.subarray(at, at + counts[row]!)]) {
        this.tokens.set(added, row * this.T + this.lengths[row]!);
        this.lengths[row]! += added.length;
      }
    }
  }

  /** Places these rows, R in each micro-batch. The next call overwrites the words. */
  place(rows: Int32Array): PlacedTokens {
    const { size } = this.layout;
    const count = Math.max(1, Math.ceil(rows.length / this.R));
    const nodes = Array.from({ length: count }, (_, k) =>
      this.placeRows(rows.subarray(k * this.R, (k + 1) * this.R), this.words.subarray(k * size, (k + 1) * size)),
    );
    const tokens = rows.reduce((sum, row) => sum + Math.max(0, this.lengths[row]! - 1), 0);
    return { words: this.words.subarray(0, count * size), nodes, tokens };
  }

  /** Returns the number of nodes. */
  private placeRows(rows: Int32Array, words: Uint32Array): number {
    const { T, tokens, lengths, path } = this;
    const { capacity, positionsAt, startsAt, targetsAt } = this.layout;
    const texts = Array.from(rows, (row) => tokens.subarray(row * T, row * T + Math.max(0, lengths[row]! - 1)));
    const order = this.sharePrefixes ? sharedBeginnings(texts) : texts.map((_, row) => ({ row, shared: 0 }));
    const nodesOfTargets: number[] = [];
    const batchIndices: number[] = [];
    let [count, length] = [0, 0]; // nodes; those of the last row
    const endFrom = (t: number) => {
      for (; length > t; length--) words[4 * path[length - 1]! + 3] = count;
    };
    for (const { row, shared } of order) {
      const text = texts[row]!;
      endFrom(shared);
      for (let t = shared; t < text.length; t++) {
        path[t] = count;
        words[4 * count] = text[t]!;
        words[4 * count + 1] = words[positionsAt + count] = t;
        words[4 * count + 2] = path[0]!;
        count++;
      }
      length = text.length;
      for (let t = 0; t < length; t++) {
        nodesOfTargets.push(path[t]!);
        batchIndices.push(rows[row]! * T + t + 1);
      }
    }
    endFrom(0);
    // unused nodes are trees of one token, so that what is computed of them is finite; nothing reads it
    for (let n = count; n < capacity; n++) {
      words.set([0, 0, n, n + 1], 4 * n);
      words[positionsAt + n] = 0;
    }
    const starts = words.subarray(startsAt, startsAt + capacity + 1).fill(0);
    for (const node of nodesOfTargets) starts[node + 1]!++;
    for (let n = 0; n < capacity; n++) starts[n + 1]! += starts[n]!;
    const targets = words.subarray(targetsAt).fill(EMPTY);
    const next = starts.slice();
    for (const [j, node] of nodesOfTargets.entries()) {
      const at = next[node]!++;
      targets[2 * at] = node;
      targets[2 * at + 1] = batchIndices[j]!;
    }
    return count;
  }
}
