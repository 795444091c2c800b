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
import { transposed } from './transposed.ts';

/*
 * Products of large matrices. y (n,o) = x (n,k) · w̃, in panels: some columns of w̃ are laid side by side into `room`, a row for each of the k terms, where
 * they stay in the processor's first cache while all rows of x pass by. A tile is 3 rows × 12 columns, nine vectors of sums beside three of the panel
 * and one of x: what the sixteen registers of x86 hold. An output's terms are added in ascending order, DEPTH of them from zero and then to those before; so
 * a row's result has the same bits whatever is computed with it.
 * Measured on one core of a Zen 4, GFLOP/s, k 576 and 1,536: 50 fused, 31 not fused; 25 and 25 by `matmulNT`, whose tiles are 2 × 4, 28 and 60 by tiles of 3 × 12
 * over w as it lies, whose rows share a set of the cache where o is a power of two times a little. Two terms a turn of the loop instead of one: 29 fused.
 */

/** Terms of a panel: at 12 columns it takes 27 kB, and SmolLM2's width goes in one. */
const DEPTH = 576;
const WIDTHS = [12, 8, 4, 1] as const;
type Width = (typeof WIDTHS)[number];
const ROWS = 3;
/** Bytes of `room`, which every call that may run at the same time has to itself. */
export const PANEL_BYTES = WIDTHS[0] * DEPTH * 4;

/** How w lies: `NT` (o,k), its rows along k; `NN` (k,o), along o. */
export type WeightLayout = 'NT' | 'NN';

/** What `panelProduct` is given; rows in bytes from one to the next, those of x are k float32s. */
const GIVEN = ['y', 'yRow', 'x', 'w', 'wRow', 'n', 'o', 'k', 'room'] as const;

/** The product by panels; `isFused`: each product and sum rounded once, where the processor does so. Any part of the columns may be asked for by itself. */
export const panelProduct = (lying: WeightLayout, isFused: boolean) =>
  routine(GIVEN, `panels${lying}`, (f, { y, yRow, x, w, wRow, n, o, k, room }) => {
    const xRow = f.let(times(k, 4));
    f.loop(0, k, DEPTH, (first) => {
      const left = f.let(minus(k, first));
      const terms = f.let(select(less(left, DEPTH), left, DEPTH));
      const from = f.let(plus(x, times(first, 4)));
      f.blocks(o, WIDTHS, (column, width) => {
        if (lying === 'NT')
          turnedPanel(f, plus(plus(w, times(first, 4)), timesQuarter(f, column, wRow)), wRow, terms, room, width);
        else copiedPanel(f, plus(plus(w, times(first, wRow)), column), wRow, terms, room, width);
        f.loop(0, n, ROWS, (i) =>
          tile(f, { i, n, from, xRow, to: plus(y, column), yRow, first, terms, room }, width, isFused),
        );
      });
    });
  });

/** offset/4 · row: the address at which a row begins, where `offset` is 4 times the row's index and `row` its bytes. */
const timesQuarter = (f: Routine, offset: Integer, row: Integer) => f.let(times(quotient(offset, 4), row));

/** Lays `width` rows of w (o,k) from `at` on side by side: of each term as many numbers as there are rows. */
function turnedPanel(f: Routine, at: Integer, wRow: Integer, terms: Integer, room: Integer, width: Width): void {
  if (width === 1) {
    const row = f.let(plus(at, 0));
    f.blocks(terms, [4, 1], (c, some) => f.store(plus(room, c), load(plus(row, c), some), some));
    return;
  }
  const rows = pointers(f, at, wRow, width);
  for (let first = 0; first < width; first += 4) {
    const four = rows.slice(first, first + 4);
    f.blocks(terms, [4, 1], (term, some) => {
      const to = f.let(plus(room, times(term, width)));
      if (some === 1) {
        const lanes = f.let(constant(0));
        for (const [i, row] of four.entries()) f.set(lanes, loadLane(32, plus(row, term), lanes, i));
        f.store(to, lanes, 4, 4 * first);
        return;
      }
      const turned = transposed(
        f,
        four.map((row) => f.let(load(plus(row, term)))),
      );
      for (const [i, v] of turned.entries()) f.store(to, v, 4, 4 * (first + i * width));
    });
  }
}

/** Lays `width` columns of w (k,o) from `at` on, a part of each row, one row behind the other. */
function copiedPanel(f: Routine, at: Integer, wRow: Integer, terms: Integer, room: Integer, width: Width): void {
  const lanes = width === 1 ? 1 : 4;
  const from = f.let(plus(at, 0));
  const to = f.let(plus(room, 0));
  f.loop(0, terms, 1, () => {
    for (let column = 0; column < width; column += lanes) f.store(to, load(from, lanes, 4 * column), lanes, 4 * column);
    f.set(from, plus(from, wRow));
    f.set(to, plus(to, 4 * width));
  });
}

/** Where a tile's rows come from and go to. */
interface TileOf {
  readonly i: Integer; // its first row
  readonly n: Integer;
  readonly from: Integer; // x at the panel's first term
  readonly xRow: Integer;
  readonly to: Integer; // y at the panel's first column
  readonly yRow: Integer;
  readonly first: Integer; // term of the panel: what lies in y already is added unless it is 0
  readonly terms: Integer;
  readonly room: Integer;
}

/** Some rows of x times the panel in `room`. */
function tile(
  f: Routine,
  { i, n, from, xRow, to, yRow, first, terms, room }: TileOf,
  width: Width,
  isFused: boolean,
): void {
  const lanes = width === 1 ? 1 : 4;
  const columns = Array.from({ length: width / lanes }, (_, j) => 4 * lanes * j);
  // rows past the last are the last once more
  const rows = Array.from({ length: ROWS }, (_, r) => f.let(select(less(plus(i, r), n), plus(i, r), minus(n, 1))));
  const xs = rows.map((row) => f.let(plus(from, times(row, xRow))));
  const sums = rows.map(() => columns.map(() => f.let(constant(0))));
  const at = f.let(plus(room, 0));
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
  const each = (step: (sum: Local<'v128'>, y: Integer, column: number) => void) => {
    for (const [r, ofRow] of sums.entries()) for (const [j, sum] of ofRow.entries()) step(sum, ys[r]!, columns[j]!);
  };
  // all is read before anything is written: the rows may be one and the same
  f.when(first, () => each((sum, y, column) => f.set(sum, add(load(y, lanes, column), sum))));
  each((sum, y, column) => f.store(y, sum, lanes, column));
}
