import type { FileProblem } from '../../domain/environmentFile.ts';
import type { Reading } from '../../written/examination.ts';
import { CodeText } from '../parts/CodeText.tsx';
import { goToLine, useEnvironment } from '../../page/environment/environmentStore.ts';

/** Lists the problems of the text. If it has none: the name of its class and its tools, and what looks like a mistake. */
export function ReadingLine() {
  const reading = useEnvironment((s) => s.reading);
  const isSaved = useEnvironment((s) => s.isSaved);
  if (!reading) return <p className="reading" role="status" />;
  const { result } = reading;
  const problems = problemsOf(result);
  if (result.problem) {
    return (
      <div className="reading stack" role="status" data-testid="reading">
        <Problems problems={problems} tone="bad" />
      </div>
    );
  }
  const { name, tools } = result.declared;
  const toolNames = tools.map((tool) => tool.name).join(', ');
  return (
    <div className="reading soft stack" role="status" data-testid="reading">
      <p>
        <b>{name}</b>{' '}
        {tools.length === 0 ? 'has no tools' : tools.length === 1 ? 'has one tool:' : `has ${tools.length} tools:`}{' '}
        <span className="mono">{toolNames}</span>.{' '}
        {isSaved ? 'Saved in this browser.' : 'This browser can’t save it. Save it as a file.'}
      </p>
      <Problems problems={problems} tone="" />
    </div>
  );
}

/** The problems that were found by reading a file: those that keep it from being played or, without any, likely mistakes. */
function problemsOf(result: Reading): readonly FileProblem[] {
  return result.problem ? [result.problem, ...result.others] : result.declared.mistakes;
}

/** Number of problems listed. The editor marks all of them. */
const MAX_LISTED = 5;

/** Whether the line below the editor lists a problem now, so that nothing else needs to say it. */
export function isListedBelow(reading: Reading | undefined, problem: FileProblem): boolean {
  const listed = reading ? problemsOf(reading).slice(0, MAX_LISTED) : [];
  return listed.some(({ what, line }) => what === problem.what && line === problem.line);
}

export function Problems({ problems, tone }: { readonly problems: readonly FileProblem[]; readonly tone: 'bad' | '' }) {
  return (
    <>
      {problems.slice(0, MAX_LISTED).map(({ what, line }) => (
        <p key={`${line} ${what}`} className={`note ${tone}`}>
          {line !== null && <LineButton line={line} />} <CodeText>{what}</CodeText>
        </p>
      ))}
      {problems.length > MAX_LISTED && <p className="faint small">And {problems.length - MAX_LISTED} more.</p>}
    </>
  );
}

export function LineButton({ line }: { readonly line: number }) {
  return (
    <button type="button" className="small rigid" onClick={() => goToLine(line)}>
      Line {line}
    </button>
  );
}
