import { goToLine, useEnvironment } from './environmentStore.ts';

/** What is wrong with the text as it stands, with a way to the line; or what it is. */
export function ReadingLine() {
  const reading = useEnvironment((s) => s.reading);
  const kept = useEnvironment((s) => s.kept);
  if (!reading) return <p className="reading" role="status" />;
  const { found } = reading;
  if (found.problem) {
    const { says, line } = found.problem;
    return (
      <p className="reading note bad" role="status" data-testid="reading">
        {line !== null && <LineButton line={line} />} {says}
      </p>
    );
  }
  const { name, tools } = found.declared;
  const list = tools.map((tool) => tool.name).join(', ');
  return (
    <p className="reading soft" role="status" data-testid="reading">
      <b>{name}</b> {tools.length === 1 ? 'has the tool' : 'has the tools'} <span className="mono">{list || '–'}</span>.{' '}
      {kept ? 'Kept in this browser.' : 'This browser refuses to keep it: save it as a file.'}
    </p>
  );
}

/** A press shows the line in the editor. */
export function LineButton({ line }: { readonly line: number }) {
  return (
    <button type="button" className="small line-button" onClick={() => goToLine(line)}>
      Line {line}
    </button>
  );
}
