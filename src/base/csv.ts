import { parseDecimal } from './decimal.ts';

/** A cell of a table. Numbers are written with all digits, NaN as an empty cell. */
type Cell = string | number;

/**
 * Writes rows as CSV (RFC 4180) that is safe to open in a spreadsheet. A text that a spreadsheet would run, such as
 * `=1+1` or `-2+3+cmd|…`, gets an apostrophe before it, as OWASP advises against CSV injection. Numbers stay numbers,
 * also as texts (`-0.5`). All CSV files of this project are written here.
 */
export function csvText(rows: readonly (readonly Cell[])[]): string {
  return rows.map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: Cell): string {
  if (typeof cell === 'number') return Number.isNaN(cell) ? '' : String(cell);
  const safe = safeText(cell);
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Characters that a spreadsheet may take for the end of a cell: semicolons in some regions, tabs when pasting. */
const CELL_ENDS = /([;\t\r\n])/;
/** Characters that spreadsheets skip before they look for a formula: white space and invisible characters. */
const IGNORED_PREFIX = /^[\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800"']*/u;
const FORMULA_START = /^[=+\-@\u2212]/; // some spreadsheets take − (U+2212) for a minus
const CONTROL_START = /^[\t\r\n]/;

function safeText(text: string): string {
  const parts = text.split(CELL_ENDS).map((part) => (isFormula(part) ? `'${part}` : part));
  return `${CONTROL_START.test(text) ? "'" : ''}${parts.join('')}`;
}

/** Whether a spreadsheet would compute a text. Full-width signs count as the plain signs that NFKC turns them into. */
function isFormula(text: string): boolean {
  const first = text.replace(IGNORED_PREFIX, '').slice(0, 2).normalize('NFKC');
  return FORMULA_START.test(first) && parseDecimal(text) === null;
}
