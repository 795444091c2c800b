import { useState } from 'react';
import { tableCsv, tableMarkdown } from '../../experiments/experimentExports.ts';
import type { Table } from '../../experiments/resultTable.ts';
import { resultsText } from '../../experiments/runResult.ts';
import { download } from '../../page/browser/fileDownload.ts';
import { deleteResults, restoreDeleted, useExperiments } from '../../page/experiments/experimentStore.ts';

export function ExportButtons({ table }: { readonly table: Table }) {
  const [message, setMessage] = useState('');
  const idle = useExperiments((s) => s.mode === 'idle');
  const { name } = table.plan;
  const isOwn = useExperiments((s) => s.own.has(name));
  const results = useExperiments((s) => s.results);
  const ownResults = results.filter((result) => result.experiment === name);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(tableMarkdown(table));
      setMessage('Copied.');
    } catch {
      // a page on plain http has no clipboard
      download(`${name}.md`, 'text/markdown', tableMarkdown(table));
      setMessage('The browser blocks the clipboard. The file was downloaded instead.');
    }
  };
  return (
    <div className="row">
      <button type="button" onClick={() => void copy()}>
        Copy Markdown
      </button>
      <button type="button" onClick={() => download(`${name}.csv`, 'text/csv', tableCsv(table))}>
        Download CSV
      </button>
      <button
        type="button"
        disabled={ownResults.length === 0}
        title={`To continue these runs from the command line, put this file into the folder ${isOwn ? 'of their results' : 'experiments'}`}
        onClick={() => download(`${isOwn ? 'table' : name}.jsonl`, 'application/x-ndjson', resultsText(ownResults))}
      >
        Download results
      </button>
      <button type="button" className="quiet" disabled={!idle} onClick={() => deleteResults(table.plan)}>
        Delete these results
      </button>
      <span className="faint" role="status">
        {message}
      </span>
    </div>
  );
}

export function DeletedResults() {
  const deletedCount = useExperiments((s) => s.deletedResults.length);
  const [[, deletedOwn] = []] = useExperiments((s) => s.deletedOwn);
  if (deletedCount === 0 && !deletedOwn) return null;
  return (
    <p className="note" role="status">
      {deletedOwn && `“${deletedOwn.plan.experiment.label}” deleted. `}
      {deletedCount} results deleted.{' '}
      <button type="button" onClick={restoreDeleted}>
        Undo
      </button>
    </p>
  );
}
