import type { EnvView } from '../../domain/envView.ts';
import { shortNumber } from '../../page/words/numberText.ts';

type Sum = Extract<EnvView, { kind: 'sum' }>;
type Bandit = Extract<EnvView, { kind: 'bandit' }>;

interface TextDrawingProps {
  readonly view: Sum | Bandit;
  readonly turn: number;
  readonly hideSolution?: boolean; // hides the target
}

/** Environments that are shown as text: arithmetic, one line for each step, or the two arms of a bandit. */
export function TextDrawing({ view, turn, hideSolution = false }: TextDrawingProps) {
  return view.kind === 'bandit' ? <Arms view={view} /> : <SumLines {...{ view, turn, hideSolution }} />;
}

function SumLines({ view, turn, hideSolution }: TextDrawingProps & { readonly view: Sum }) {
  const { task, wanted, steps } = view;
  return (
    <div className="ledger" translate="no">
      <p>
        {task}{' '}
        {!hideSolution && (
          <>
            <span className="faint">target</span> <strong>{wanted}</strong>
          </>
        )}
      </p>
      <ol>
        {steps.map((step) => (
          <li key={step.turn} data-now={step.turn === turn} data-later={turn > 0 && step.turn > turn}>
            <span className="faint">{step.turn}</span>
            <span>{step.text}</span>
            <strong data-right={step.result === String(wanted)}>= {step.result}</strong>
          </li>
        ))}
      </ol>
      {steps.length === 0 && <p className="faint">No well-formed turn yet.</p>}
    </div>
  );
}

function Arms({ view }: { readonly view: Bandit }) {
  const { arms, risky, given, paid } = view;
  const payoutText = (arm: string) => (arm === risky ? '1 in a quarter of the draws, else 0' : 'always .1');
  return (
    <div className="ledger" translate="no">
      <ol>
        {arms.map((arm) => (
          <li key={arm} data-now={arm === given}>
            <strong>{arm}</strong>
            <span className="faint">{payoutText(arm)}</span>
            {arm === given && <span>chosen, paid {shortNumber(paid ?? 0)}</span>}
          </li>
        ))}
      </ol>
      {given !== null && !arms.includes(given) && <p>{given} was chosen, but is not one of the arms.</p>}
    </div>
  );
}
