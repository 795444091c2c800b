import { useState } from 'react';
import { csvOf, markdownOf } from '../../experiments/experimentExports.ts';
import type { Table } from '../../experiments/resultTable.ts';
import { resultsText } from '../../experiments/runResult.ts';
import { download } from '../export/fileDownload.ts';
import { forget, restoreDeleted, useExperiments } from './experimentStore.ts';

/** Takes the table away, or throws its results out. */
export function ExportButtons({ table }: { readonly table: Table }) {
  const [said, setSaid] = useState('');
  const idle = useExperiments((s) => s.mode === 'idle');
  const { experiment } = table.plan;
  const results = useExperiments((s) => s.results);
  const own = results.filter((result) => result.experiment === experiment);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(markdownOf(table));
      setSaid('Copied.');
    } catch {
      // a page on plain http has no clipboard
      download(`${experiment}.md`, 'text/markdown', markdownOf(table));
      setSaid('The browser blocks the clipboard. The file was downloaded instead.');
    }
  };
  return (
    <div className="row">
      <button type="button" onClick={() => void copy()}>
        Copy Markdown
      </button>
      <button type="button" onClick={() => download(`${experiment}.csv`, 'text/csv', csvOf(table))}>
        Download CSV
      </button>
      <button
        type="button"
        disabled={own.length === 0}
        title="To continue these runs from the command line, put this file into the folder experiments"
        onClick={() => download(`${experiment}.jsonl`, 'application/x-ndjson', resultsText(own))}
      >
        Download results
      </button>
      <button type="button" className="quiet" disabled={!idle} onClick={() => forget(table.plan)}>
        Delete these results
      </button>
      <span className="faint" role="status">
        {said}
      </span>
    </div>
  );
}

/** Says what was forgotten and takes it back. */
export function ForgottenResults() {
  const deletedCount = useExperiments((s) => s.deleted.length);
  if (deletedCount === 0) return null;
  return (
    <p className="note" role="status">
      {deletedCount} results deleted.{' '}
      <button type="button" onClick={restoreDeleted}>
        Undo
      </button>
    </p>
  );
}
