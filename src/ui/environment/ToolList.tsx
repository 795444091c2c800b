import { languageOf } from '../../domain/environmentFile.ts';
import type { Parameter } from '../../text/toolSchema.ts';
import { useEnvironment } from './environmentStore.ts';

/** The descriptions of the task and its tools, from the comments in the file. Renders nothing if the file can't be read. */
export function ToolList() {
  const declared = useEnvironment((s) => (s.reading?.found.problem === null ? s.reading.found.declared : null));
  const python = useEnvironment((s) => languageOf(s.file) === 'python');
  if (!declared) return null;
  const { description, tools } = declared;
  return (
    <section className="panel stack" aria-labelledby="tools-title" data-testid="tools">
      <h2 id="tools-title">Task and tools</h2>
      {description === '' ? (
        <p className="faint">
          {python ? 'Write a docstring in the class' : 'Write a comment before the class'} to describe the task.
        </p>
      ) : (
        <p>{description}</p>
      )}
      {tools.map(({ name, description: does, parameters }) => (
        <div key={name} className="tool">
          <p className="mono">
            <b>{name}</b>({parameters.map(signature).join(', ')})
          </p>
          {does !== '' && <p className="soft">{does}</p>}
          {parameters.map((parameter) =>
            typeof parameter !== 'string' && parameter.description !== undefined ? (
              <p key={parameter.name} className="faint">
                <span className="mono">{parameter.name}</span>: {parameter.description}
              </p>
            ) : null,
          )}
        </div>
      ))}
    </section>
  );
}

function signature(parameter: Parameter): string {
  if (typeof parameter === 'string') return parameter;
  const { name, type, choices } = parameter;
  return `${name}: ${choices ? choices.map((choice) => JSON.stringify(choice)).join(' | ') : type}`;
}
