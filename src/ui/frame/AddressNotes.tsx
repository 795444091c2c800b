import { useShallow } from 'zustand/react/shallow';
import { contradictions } from '../../config/contradictions.ts';
import { problemText } from '../../base/problem.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { useRoute } from '../../page/address/route.ts';
import { useMissingTargets } from '../../page/view/linkTargets.ts';
import { counted, wholeNumber } from '../../page/words/numberText.ts';
import './notes.css';

/**
 * Notes shown on every screen: what the address asks for and the page doesn't have, and what a link points at that
 * can't be here. Outside the lab, also knobs that cannot run together. In a frame they are folded, below the panel.
 */
export function AddressNotes({ inFrame = false }: { readonly inFrame?: boolean }) {
  const corrections = useConfig((s) => s.corrections);
  const inLab = useRoute() === 'lab'; // the lab's controls show contradictions themselves
  const impossible = useConfig(useShallow((s) => (inLab ? [] : contradictions(s.wanted).map(problemText))));
  const missing = useMissingTargets();
  const notes = (
    <>
      {corrections.length > 0 && (
        <section className="float" aria-label="The address" data-testid="corrections">
          <p>
            <b>
              The address asks for{' '}
              {corrections.length === 1 ? 'one thing' : `${wholeNumber(corrections.length)} things`} this page doesn’t
              have:
            </b>
          </p>
          <Texts label="What the address asks for" texts={corrections} />
          <button type="button" onClick={() => useConfig.setState({ corrections: [] })}>
            Dismiss
          </button>
        </section>
      )}
      {missing.length > 0 && (
        <section className="float" aria-label="What the address points at" data-testid="absent">
          <p>
            <b>This link points at something that isn’t here:</b>
          </p>
          <Texts label="What is not in view" texts={missing} />
        </section>
      )}
      {impossible.length > 0 && (
        <section aria-label="Knobs" className="float bad">
          <p>
            <b>These knobs cannot run together:</b>
          </p>
          <Texts label="Knobs that cannot run together" texts={impossible} />
        </section>
      )}
    </>
  );
  const amount = [corrections, missing, impossible].filter(({ length }) => length > 0).length;
  return (
    <div className="address-notes" role="status">
      {inFrame && amount > 0 ? (
        <details>
          <summary className="small">{counted(amount, 'note')} on the address of this frame</summary>
          {notes}
        </details>
      ) : (
        notes
      )}
    </div>
  );
}

function Texts({ label, texts }: { readonly label: string; readonly texts: readonly string[] }) {
  return (
    // a scrolling box must be reachable with the keyboard
    <div className="low scrolls" role="region" aria-label={label} tabIndex={0}>
      <ul>
        {[...new Set(texts)].map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  );
}
