import { Fragment } from 'react';
import type { Row, Table } from '../../experiments/resultTable.ts';
import { type ResultColumn, resultColumns } from '../../experiments/experimentExports.ts';
import { publishedNote, tableNotes } from '../../experiments/wording.ts';
import { ExportButtons } from './ExportButtons.tsx';
import { Sparkline } from '../charts/Sparkline.tsx';

export function Results({ table }: { readonly table: Table }) {
  const { experiment, rows } = table;
  const published = experiment.published;
  const groups = [...new Set(rows.map(({ arm }) => arm.group ?? ''))];
  const columns = resultColumns(table);
  if (table.done === 0) return <p className="faint empty">No results yet. Start the queue and the table fills in.</p>;
  return (
    <>
      <div className="scroll" role="region" aria-label="Results" tabIndex={0}>
        <table className="ruled results">
          <caption>Results</caption>
          <TableHead table={table} columns={columns} />
          <tbody>
            {groups.map((group) => (
              <Fragment key={group}>
                {group !== '' && (
                  <tr className="group-row">
                    <th scope="rowgroup" colSpan={columns.length + 1}>
                      {group}
                    </th>
                  </tr>
                )}
                {rows
                  .filter(({ arm }) => (arm.group ?? '') === group)
                  .map((row) => (
                    <ResultRow key={row.arm.key} row={row} columns={columns} />
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

function TableHead({ table, columns }: { readonly table: Table; readonly columns: readonly ResultColumn[] }) {
  const { published } = table.experiment;
  const [arm, ...others] = columns;
  const publishedCount = published?.columns.length ?? 0;
  return (
    <thead>
      <tr>
        <th scope="col" rowSpan={2}>
          {arm?.heading}
        </th>
        <th scope="colgroup" colSpan={1 + others.length - publishedCount}>
          {published ? 'These runs: mean' : 'Mean'} ± standard deviation over seeds
        </th>
        {published && (
          <th scope="colgroup" colSpan={publishedCount} className="published">
            Published: {published.model}, {published.task}
          </th>
        )}
      </tr>
      <tr>
        <th scope="col">Training success</th>
        {others.map(({ key, kind, heading }) => (
          <th key={key} scope="col" className={CELL_CLASS[kind]}>
            {heading}
          </th>
        ))}
      </tr>
    </thead>
  );
}

const CELL_CLASS: Readonly<Partial<Record<ResultColumn['kind'], string>>> = {
  difference: 'difference',
  published: 'published',
};

function ResultRow({ row, columns }: { readonly row: Row; readonly columns: readonly ResultColumn[] }) {
  const [arm, ...others] = columns;
  return (
    <tr>
      <th scope="row">{arm?.text(row)}</th>
      <td>
        <Sparkline curves={row.curves} />
      </td>
      {others.map(({ key, kind, text }) => (
        <td key={key} className={CELL_CLASS[kind]} data-headline={kind === 'headline'}>
          {kind === 'difference' && row.difference === null ? (
            <span className="faint">{text(row)}</span>
          ) : (
            <TwoLines text={text(row)} separator={kind === 'difference' ? ', better' : ' ±'} />
          )}
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
