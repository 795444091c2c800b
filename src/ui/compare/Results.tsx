import { Fragment } from 'react';
import type { Row, Table } from '../../experiments/resultTable.ts';
import {
  comparedWithText,
  cellText,
  differenceHeading,
  differenceText,
  isReference,
  tableNotes,
  publishedNote,
  publishedText,
} from '../../experiments/wording.ts';
import { ExportButtons } from './ExportButtons.tsx';
import { Sparkline } from '../charts/Sparkline.tsx';

/** The table of results, with published figures in separate columns. */
export function Results({ table }: { readonly table: Table }) {
  const { experiment, rows } = table;
  const published = experiment.published;
  const groups = [...new Set(rows.map(({ arm }) => arm.group ?? ''))];
  const columnCount = 4 + experiment.columns.length + (published?.columns.length ?? 0);
  if (table.done === 0) return <p className="faint empty">No results yet. Start the queue and the table fills in.</p>;
  return (
    <>
      <div className="scroll" role="region" aria-label="Results" tabIndex={0}>
        <table className="ruled results">
          <caption>Results</caption>
          <TableHead table={table} />
          <tbody>
            {groups.map((group) => (
              <Fragment key={group}>
                {group !== '' && (
                  <tr className="group-row">
                    <th scope="rowgroup" colSpan={columnCount}>
                      {group}
                    </th>
                  </tr>
                )}
                {rows
                  .filter(({ arm }) => (arm.group ?? '') === group)
                  .map((row) => (
                    <ResultRow key={row.arm.key} row={row} table={table} />
                  ))}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      {tableNotes(table).map((note) => (
        <p key={note} className="faint">
          {note}
        </p>
      ))}
      {published && <p className="faint">Published figures: {publishedNote(table)}</p>}
      <ExportButtons table={table} />
    </>
  );
}

function TableHead({ table }: { readonly table: Table }) {
  const { experiment } = table;
  const published = experiment.published;
  return (
    <thead>
      <tr>
        <th scope="col" rowSpan={2}>
          Variant
        </th>
        <th scope="colgroup" colSpan={3 + experiment.columns.length}>
          {published ? 'These runs: mean' : 'Mean'} ± standard deviation over seeds
        </th>
        {published && (
          <th scope="colgroup" colSpan={published.columns.length} className="published">
            Published: {published.model}, {published.task}
          </th>
        )}
      </tr>
      <tr>
        <th scope="col">Training success</th>
        <th scope="col">n</th>
        {experiment.columns.map(({ key, label }) => (
          <th key={key} scope="col">
            {label}
          </th>
        ))}
        <th scope="col" className="difference">
          {differenceHeading(table)}
        </th>
        {published?.columns.map((label) => (
          <th key={label} scope="col" className="published">
            {label}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function ResultRow({ row, table }: { readonly row: Row; readonly table: Table }) {
  const { experiment } = table;
  const comparedArm = comparedWithText(table, row);
  return (
    <tr>
      <th scope="row">{row.arm.label}</th>
      <td>
        <Sparkline curves={row.curves} />
      </td>
      <td>{row.runs}</td>
      {experiment.columns.map((column, i) => (
        <td key={column.key} data-headline={column.key === experiment.headline}>
          <TwoLines text={cellText(row.cells[i] ?? null, column, row.runs)} separator=" ±" />
        </td>
      ))}
      <td className="difference">
        {comparedArm !== '' && (
          <TwoLines text={`${differenceText(row.difference)}; compared with ${comparedArm}`} separator=", better" />
        )}
        {comparedArm === '' && <span className="faint">{isReference(table, row) ? 'reference' : '–'}</span>}
      </td>
      {experiment.published?.columns.map((label, i) => (
        <td key={label} className="published">
          {publishedText(row.arm.published?.[i])}
        </td>
      ))}
    </tr>
  );
}

/** Splits a text into two lines before `separator`. The second line is smaller. */
function TwoLines({ text, separator }: { readonly text: string; readonly separator: string }) {
  const split = text.indexOf(separator);
  if (split < 0) return text;
  return (
    <>
      {text.slice(0, split)}
      <span className="below">{text.slice(split).replace(/^, /, '')}</span>
    </>
  );
}
