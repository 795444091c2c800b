import {
  add,
  constant,
  integer,
  less,
  load,
  loadSplat,
  minus,
  multiplyAdd,
  plus,
  select,
  times,
  loadLane,
  quotient,
  type Integer,
  type Local,
} from './instructions.ts';
import { pointers, routine, type Routine } from './routine.ts';
import { transpose } from './transpose.ts';

/*
 * Products of large matrices, y (n,o) = x (n,k) · w̃, where w̃ (k,o) is wᵀ or w. They go by panels: some columns of w̃
 * are copied to the scratch memory `panel`, one row for each of up to MAX_TERMS terms. The panel stays in the
 * processor's first-level cache while all rows of x are multiplied with it. A tile is 3 rows × 12 columns: nine vectors
 * of sums, three of the panel and one of x, which fit into the sixteen registers of x86. The terms of an output are
 * added in ascending order: up to MAX_TERMS terms are summed from zero, then added to the sum so far. So a row's result
 * has the same bits, whichever rows are computed together with it.
 *
 * Measured on one core of a Zen 4, in GFLOP/s, with k = 576 and 1,536: 50 fused, 31 not fused. `matmulNT`, whose tiles
 * are 2 × 4: 25 and 25. Tiles of 3 × 12 without copying: 28 and 60; there, rows of w compete for the same cache set if
 * o is a small multiple of a power of two. With two terms per iteration instead of one: 29 fused.
 */

/** Largest number of terms of a panel. With 12 columns it takes 27 kB, and SmolLM2's width fits into one panel. */
const MAX_TERMS = 576;
const PANEL_WIDTHS = [12, 8, 4, 1] as const;
type PanelWidth = (typeof PANEL_WIDTHS)[number];
const ROWS = 3;
/** Bytes of the scratch memory `panel`. Calls that run at the same time need one each. */
export const PANEL_BYTES = PANEL_WIDTHS[0] * MAX_TERMS * 4;

/** The layout of w. `NT`: (o,k), the product is x·wᵀ. `NN`: (k,o), the product is x·w. */
export type WeightLayout = 'NT' | 'NN';

/** The parameters of `panelProduct`. `yRow` and `wRow` are bytes from one row to the next; a row of x has k float32. */
const PARAMETERS = ['y', 'yRow', 'x', 'w', 'wRow', 'n', 'o', 'k', 'panel'] as const;

/** `isFused`: with a single rounding, if the processor can. A call may compute only some of the columns, with the same bits. */
export const panelProduct = (layout: WeightLayout, isFused: boolean) =>
  routine(PARAMETERS, `panels${layout}`, (f, { y, yRow, x, w, wRow, n, o, k, panel }) => {
    const xRow = f.let(times(k, 4));
    f.loop(0, k, MAX_TERMS, (first) => {
      const remaining = f.let(minus(k, first));
      const terms = f.let(select(less(remaining, MAX_TERMS), remaining, MAX_TERMS));
      const from = f.let(plus(x, times(first, 4)));
      f.blocks(o, PANEL_WIDTHS, (column, width) => {
        if (layout === 'NT')
          transposePanel(f, plus(plus(w, times(first, 4)), rowOffset(f, column, wRow)), wRow, terms, panel, width);
        else copyPanel(f, plus(plus(w, times(first, wRow)), column), wRow, terms, panel, width);
        f.loop(0, n, ROWS, (i) =>
          computeTile(f, { i, n, from, xRow, to: plus(y, column), yRow, first, terms, panel }, width, isFused),
        );
      });
    });
  });

/** offset/4 · row: the byte offset of a row, where `offset` is 4 times the row's index and `row` the bytes of a row. */
const rowOffset = (f: Routine, offset: Integer, row: Integer) => f.let(times(quotient(offset, 4), row));

/** Copies `width` rows of w (o,k), from address `at` on; the panel has a row of `width` numbers for each term. */
function transposePanel(
  f: Routine,
  at: Integer,
  wRow: Integer,
  terms: Integer,
  panel: Integer,
  width: PanelWidth,
): void {
  if (width === 1) {
    const row = f.let(plus(at, 0));
    f.blocks(terms, [4, 1], (c, termCount) => f.store(plus(panel, c), load(plus(row, c), termCount), termCount));
    return;
  }
  const rows = pointers(f, at, wRow, width);
  for (let first = 0; first < width; first += 4) {
    const four = rows.slice(first, first + 4);
    f.blocks(terms, [4, 1], (term, termCount) => {
      const to = f.let(plus(panel, times(term, width)));
      if (termCount === 1) {
        const lanes = f.let(constant(0));
        for (const [i, row] of four.entries()) f.set(lanes, loadLane(32, plus(row, term), lanes, i));
        f.store(to, lanes, 4, 4 * first);
        return;
      }
      const transposedRows = transpose(
        f,
        four.map((row) => f.let(load(plus(row, term)))),
      );
      for (const [i, v] of transposedRows.entries()) f.store(to, v, 4, 4 * (first + i * width));
    });
  }
}

/** Copies `width` columns of w (k,o), from address `at` on, to the panel: a row of `width` numbers for each term. */
function copyPanel(f: Routine, at: Integer, wRow: Integer, terms: Integer, panel: Integer, width: PanelWidth): void {
  const lanes = width === 1 ? 1 : 4;
  const from = f.let(plus(at, 0));
  const to = f.let(plus(panel, 0));
  f.loop(0, terms, 1, () => {
    for (let column = 0; column < width; column += lanes) f.store(to, load(from, lanes, 4 * column), lanes, 4 * column);
    f.set(from, plus(from, wRow));
    f.set(to, plus(to, 4 * width));
  });
}

/** The inputs and outputs of a tile. Addresses, `xRow` and `yRow` are in bytes. */
interface TileAddresses {
  readonly i: Integer; // first row of the tile
  readonly n: Integer; // rows of x
  readonly from: Integer; // address in x of the panel's first term
  readonly xRow: Integer;
  readonly to: Integer; // address in y of the panel's first column
  readonly yRow: Integer;
  readonly first: Integer; // first term of the panel; if it's not 0, the tile is added to y
  readonly terms: Integer;
  readonly panel: Integer;
}

/** Multiplies up to three rows of x with the panel. */
function computeTile(
  f: Routine,
  { i, n, from, xRow, to, yRow, first, terms, panel }: TileAddresses,
  width: PanelWidth,
  isFused: boolean,
): void {
  const lanes = width === 1 ? 1 : 4;
  const columns = Array.from({ length: width / lanes }, (_, j) => 4 * lanes * j);
  // instead of rows past the last, the last row is used again
  const rows = Array.from({ length: ROWS }, (_, r) => f.let(select(less(plus(i, r), n), plus(i, r), minus(n, 1))));
  const xs = rows.map((row) => f.let(plus(from, times(row, xRow))));
  const sums = rows.map(() => columns.map(() => f.let(constant(0))));
  const at = f.let(plus(panel, 0));
  const end = f.let(times(terms, 4));
  const c = f.let(integer(0));
  f.while(less(c, end), () => {
    const panel = columns.map((column) => f.let(load(at, lanes, column)));
    for (const [r, row] of xs.entries()) {
      const u = f.let(loadSplat(plus(row, c)));
      for (const [j, v] of panel.entries()) {
        const sum = sums[r]![j]!;
        f.set(sum, multiplyAdd(isFused)(sum, u, v));
      }
    }
    f.set(at, plus(at, 4 * width));
    f.set(c, plus(c, 4));
  });
  const ys = rows.map((row) => f.let(plus(to, times(row, yRow))));
  const forEachSum = (visit: (sum: Local<'v128'>, y: Integer, column: number) => void) => {
    for (const [r, ofRow] of sums.entries()) for (const [j, sum] of ofRow.entries()) visit(sum, ys[r]!, columns[j]!);
  };
  // reads all rows before it writes any, because some of them may be the same row
  f.when(first, () => forEachSum((sum, y, column) => f.set(sum, add(load(y, lanes, column), sum))));
  forEachSum((sum, y, column) => f.store(y, sum, lanes, column));
}
