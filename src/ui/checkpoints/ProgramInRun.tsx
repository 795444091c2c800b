import { visible } from '../../base/visible.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { counted } from '../parts/countText.ts';
import { bytes } from '../parts/numberText.ts';

const LONGEST_LINE = 10_000;

/** The program in a run that came as a file, for the user to read before it runs. */
export function ProgramInRun({ file: { name, text } }: { readonly file: EnvironmentFile }) {
  const lines = text.split(/\r?\n/);
  return (
    <section className="stack" aria-label="The program in this run" data-testid="program-in-run">
      <p>
        This run trains on an environment that somebody wrote: <b className="mono">{visible(name)}</b> (
        {bytes(new TextEncoder().encode(text).length)}, {counted(lines.length, 'line')}). It’s a program, and it hasn’t
        run yet. When you continue, it runs in a sandbox, which can’t reach the network or the rest of this page.
      </p>
      <details open>
        <summary>Read it first</summary>
        <pre className="program" role="region" tabIndex={0} aria-label={`The text of ${visible(name)}`}>
          {/* characters that reorder a line or can't be seen would hide what it does */}
          {lines.map((line) => visible(line.replaceAll('\t', '  '), LONGEST_LINE)).join('\n')}
        </pre>
      </details>
    </section>
  );
}
