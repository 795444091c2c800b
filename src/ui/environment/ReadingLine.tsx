import { goToLine, useEnvironment } from './environmentStore.ts';

/** The first problem of the text with a button to its line, or the name of its class and its tools. */
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
      <b>{name}</b> {tools.length === 0 ? 'has no tools' : tools.length === 1 ? 'has the tool' : 'has the tools'}{' '}
      <span className="mono">{list}</span>.{' '}
      {kept ? 'Saved in this browser.' : 'This browser can’t save it. Save it as a file.'}
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
