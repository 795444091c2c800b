import type { EnvView, WrittenView } from '../../domain/envView.ts';
import { shortNumber } from '../../page/words/numberText.ts';
import './calls.css';

interface Props {
  readonly view: Extract<EnvView, { kind: 'calls' }>;
  readonly turn: number;
  /** Hides the drawing of the environment's class from a person who plays, because it may reveal the solution. */
  readonly hideSolution?: boolean;
}

export function Calls({ view: { prompt, shown, steps }, turn, hideSolution = false }: Props) {
  const currentBoard = steps.findLast((step) => turn === 0 || step.turn <= turn)?.shown ?? shown;
  return (
    <div className="ledger calls" translate="no">
      <p className="calls-prompt">{prompt}</p>
      {!hideSolution && currentBoard && <WrittenBoard shown={currentBoard} />}
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
    </div>
  );
}

/** The result of `view()` of an environment's class: a text, a table, a grid of cells, or numbers on a line. */
function WrittenBoard({ shown }: { readonly shown: WrittenView }) {
  switch (shown.kind) {
    case 'text':
      return <p className="board-text">{shown.text}</p>;
    case 'table':
      return <Table rows={shown.rows} />;
    case 'grid':
      return (
        <div
          className="board-grid grid gap-1 mono"
          role="img"
          aria-label={shown.rows.map((row) => row.join(' ')).join('; ')}
        >
          {shown.rows.map((row, y) => (
            <div key={y}>
              {row.map((cell, x) => (
                <span key={x}>{cell}</span>
              ))}
            </div>
          ))}
        </div>
      );
    case 'line':
      return <Line {...shown} />;
    default:
      return shown satisfies never;
  }
}

function Table({ rows: [head = [], ...rows] }: { readonly rows: readonly (readonly string[])[] }) {
  return (
    <table className="board-table small">
      <thead>
        <tr>
          {head.map((cell, x) => (
            <th key={x} scope="col">
              {cell}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, y) => (
          <tr key={y}>
            {row.map((cell, x) => (
              <td key={x}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Numbers on a line. Each mark has its own row, so that names never overlap. */
function Line({ from, to, marks }: Extract<WrittenView, { kind: 'line' }>) {
  const shareOfLine = (value: number) => `${100 * Math.min(1, Math.max(0, (value - from) / (to - from)))}%`;
  return (
    <div className="board-line small">
      {marks.map(({ name, at }) => (
        <div key={name}>
          <span className="cut">{name}</span>
          <span className="board-track">
            <i style={{ insetInlineStart: shareOfLine(at) }} />
          </span>
          <b>{shortNumber(at)}</b>
        </div>
      ))}
      <div className="faint">
        <span />
        <span className="row between">
          <span>{shortNumber(from)}</span>
          <span>{shortNumber(to)}</span>
        </span>
        <span />
      </div>
    </div>
  );
}
