import { useEffect, useMemo, useRef } from 'react';
import { formulaOf } from '../../config/formula.ts';
import { useConfig } from '../knobs/configStore.ts';
import '../styles/formula.css';
import { TargetDetails } from './TargetDetails.tsx';
import { Equation } from './Equation.tsx';
import { bindPointing, useFormula } from './formulaTarget.ts';
import { Strip } from './Strip.tsx';

/** The formula of the algorithm as the knobs stand, always beside them: what a knob acts on is lit in it, and in the rollout. */
export function FormulaDock() {
  const wanted = useConfig((s) => s.wanted);
  const lines = useMemo(() => formulaOf(wanted), [wanted]);
  const open = useFormula((s) => s.open);
  const target = useFormula((s) => s.target);
  const turned = useFormula((s) => s.turned);
  const equations = useRef<HTMLDivElement>(null);
  useEffect(bindPointing, []);
  useEffect(() => {
    const box = equations.current;
    const lit = box?.querySelector<HTMLElement>('.term[data-lit="true"]')?.closest<HTMLElement>('.equation');
    // what is pointed at in here is in sight already
    if (!box || !lit || !target || 'term' in target) return;
    const [top, bottom] = [lit.offsetTop - box.offsetTop, lit.offsetTop - box.offsetTop + lit.offsetHeight];
    if (top < box.scrollTop || bottom > box.scrollTop + box.clientHeight) box.scrollTop = top;
  }, [target]);
  const dock = (
    <details
      className="formula-dock"
      data-testid="formula"
      open={open}
      onToggle={(event) => useFormula.setState({ open: event.currentTarget.open })}
    >
      <summary>
        <h2>Formula</h2>
        <span className="faint">what each knob acts on</span>
      </summary>
      <div className="equations" ref={equations}>
        {lines.map((line, i) => (
          <Equation key={i} line={line} />
        ))}
      </div>
      <Strip />
      {open && <TargetDetails />}
    </details>
  );
  return (
    <>
      {dock}
      {!open && turned && <TargetDetails />}
    </>
  );
}
