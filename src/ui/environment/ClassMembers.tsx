import { languageOf } from '../../domain/environmentFile.ts';
import { useEnvironment } from './environmentStore.ts';
import { MEMBERS } from './members.ts';

/** All that a class may have, in the language of the file: for somebody who writes one and doesn't know the names. */
export function ClassMembers() {
  const python = useEnvironment((s) => languageOf(s.file) === 'python');
  return (
    <details className="panel class-members" data-testid="class-members">
      <summary>
        <b>All that the class may have</b>
      </summary>
      <dl className="small">
        {MEMBERS.map(({ label, python: inPython, doc }) => (
          <div key={label}>
            <dt className="mono">{label === 'tool' ? 'any other method' : python ? inPython : label}</dt>
            <dd className="soft">{doc}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
