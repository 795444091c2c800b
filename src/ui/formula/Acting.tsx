import { useMemo } from 'react';
import { FIELDS, type FieldName } from '../../config/fields.ts';
import { TERM_LIST } from '../../config/formulaTerms.ts';
import { useConfig } from '../knobs/configStore.ts';
import { knobText, whole } from '../parts/format.ts';
import { useTried } from '../rollout/ghost.ts';
import { useCurrent } from '../run/current.ts';
import { useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { counted, type Counts } from './counts.ts';
import { CAN_TRY, useFormula } from './pointing.ts';
import { compared } from './compared.ts';

/** What is pointed at, which tokens it touches, and what turning it would change on the batch in view. As tall, whatever it says. */
export function Acting() {
  const target = useFormula((s) => s.target);
  const terms = useFormula((s) => s.terms);
  const knobs = useFormula((s) => s.knobs);
  const trying = useTried((s) => s.changes !== null);
  const value = useConfig((s) => (target && 'knob' in target ? s.wanted[target.knob] : null));
  if (!target) {
    return (
      <div className="acting">
        <p className="faint">
          Point at a knob, or at a term: what belongs together is lit, here and in the rollout. Turn a knob, and what it
          would change is worked out on the batch in view.
        </p>
      </div>
    );
  }
  const names = terms.map((term) => TERM_LIST[term].name).join(', ');
  return (
    <div className="acting" data-testid="acting">
      <p>
        <b>{'knob' in target ? `${FIELDS[target.knob].label} ${knobText(value ?? '')}` : names}</b>
        {'knob' in target ? ` · ${names}. ` : '. '}
        {!trying && terms.length === 1 && terms[0] && TERM_LIST[terms[0]].doc} <Touched />
      </p>
      {'knob' in target ? (
        <Preview knob={target.knob} />
      ) : (
        knobs.length > 0 && <p className="soft">{knobs.map((name) => FIELDS[name].label).join(' · ')}</p>
      )}
    </div>
  );
}

function Touched() {
  const lit = useSelection((s) => s.lit);
  const { batch, rollout } = useCurrent();
  const counts = useMemo(
    () => lit && counted(lit.marks, rollout.row * batch.length, batch.length),
    [lit, rollout, batch],
  );
  if (!counts) return null;
  return <span className="soft">{touchedWords(counts)}</span>;
}

function touchedWords({ batch, here, rose, fell }: Counts): string {
  const held = rose + fell;
  if (held > 0) {
    const sides = [
      ...(rose > 0 ? [`▲ ${whole(rose)} as it rose`] : []),
      ...(fell > 0 ? [`▼ ${whole(fell)} as it fell`] : []),
    ];
    return `The clip held ${sides.join(', ')}.`;
  }
  if (batch === 0) return 'It touches no token of this batch.';
  return `${whole(batch)} ${batch === 1 ? 'token' : 'tokens'} of the batch, ${whole(here)} of this rollout.`;
}

/** What the batch in view would have been with the knob as it stands. */
function Preview({ knob }: { readonly knob: FieldName }) {
  const { changes, ghost, refused, of } = useTried();
  const { batch } = useCurrent();
  const moved = useConfig((s) => s.applied !== null && s.wanted[knob] !== s.applied[knob]);
  useLive((s) => s.batchVersion);
  const shown = useMemo(() => (ghost && of ? compared(of, ghost, knob) : null), [ghost, of, knob]);
  if (!changes || of !== batch || changes[knob] === undefined) {
    if (CAN_TRY.has(knob) || !moved) return null;
    return <p className="soft">What it would change takes rollouts that have not been drawn.</p>;
  }
  if (refused !== null) return <p className="soft">{refused}</p>;
  if (!shown) return <p className="soft waiting">Working it out on this batch…</p>;
  return (
    <p className="tried" aria-live="polite" data-testid="tried">
      {knob === 'groupSize' && `The first ${knobText(changes[knob] ?? '')} rollouts of each task alone. `}
      With {knobText(changes[knob] ?? '')}: {shown}
    </p>
  );
}
