import type { EnvView } from '../../domain/envView.ts';
import { signed } from '../parts/numberText.ts';
import { WrittenBoard } from './WrittenBoard.tsx';

interface Props {
  readonly view: Extract<EnvView, { kind: 'calls' }>;
  readonly turn: number;
  readonly secret?: boolean; // who plays is not shown what the class draws: it may give the task away
}

/** An environment that a person wrote: its task, what its class draws of itself, a line a call, and what the episode earned. */
export function Calls({ view: { prompt, shown, steps, earned }, turn, secret = false }: Props) {
  const now = steps.findLast((step) => turn === 0 || step.turn <= turn)?.shown ?? shown;
  return (
    <div className="ledger calls">
      <p className="calls-prompt">{prompt}</p>
      {!secret && now && <WrittenBoard shown={now} />}
      <ol>
        {steps.map((step) => (
          <li key={step.turn} data-now={step.turn === turn} data-later={turn > 0 && step.turn > turn}>
            <span className="faint">{step.turn}</span>
            <span>{step.text}</span>
            {step.result !== '' && <strong>{step.result}</strong>}
          </li>
        ))}
      </ol>
      {steps.length === 0 && <p className="faint">No well-formed turn yet.</p>}
      {earned && (
        <p className="small calls-earned">
          <span className="faint">getReward()</span>{' '}
          {Object.entries(earned).map(([name, value]) => (
            <span key={name}>
              {name} <b>{signed(value)}</b>{' '}
            </span>
          ))}
        </p>
      )}
    </div>
  );
}
