import { decimal } from './decimal.ts';

/** A cell of a table: numbers are written with all digits, NaN as nothing. */
type Cell = string | number;

/**
 * Rows as CSV (RFC 4180) that a spreadsheet only shows: a text that it would run, such as `=1+1` or `-2+3+cmd|…`, gets an apostrophe
 * before it, as OWASP advises (CSV injection). Numbers stay numbers, `-0.5` as a text, too. All CSV of this project is written here.
 */
export function csvText(rows: readonly (readonly Cell[])[]): string {
  return rows.map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: Cell): string {
  if (typeof cell === 'number') return Number.isNaN(cell) ? '' : String(cell);
  const shown = guarded(cell);
  return /[",;\t\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}

/** What a spreadsheet may take for the end of a cell: of another region a semicolon, pasted a tab. */
const ENDS = /([;\t\r\n])/;
/** What spreadsheets pass over before they look for a formula: blanks and what cannot be seen. */
const PASSED = /^[\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800"']*/u;
const FORMULA = /^[=+\-@\u2212]/; // − is a minus to some
const CONTROL = /^[\t\r\n]/;

function guarded(text: string): string {
  const parts = text.split(ENDS).map((part) => (runs(part) ? `'${part}` : part));
  return `${CONTROL.test(text) ? "'" : ''}${parts.join('')}`;
}

/** Whether a spreadsheet would compute a text. Full-width signs count as the plain ones that NFKC makes of them. */
function runs(text: string): boolean {
  const first = text.replace(PASSED, '').slice(0, 2).normalize('NFKC');
  return FORMULA.test(first) && decimal(text) === null;
}
