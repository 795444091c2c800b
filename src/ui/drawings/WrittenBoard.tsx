import type { WrittenView } from '../../domain/writtenView.ts';
import { short } from '../parts/numberText.ts';

/** What the class of an environment shows of itself: a text, a table, a grid of cells, or numbers on a line. */
export function WrittenBoard({ shown }: { readonly shown: WrittenView }) {
  switch (shown.kind) {
    case 'text':
      return <p className="board-text">{shown.text}</p>;
    case 'table':
      return <Table rows={shown.rows} />;
    case 'grid':
      return (
        <div className="board-grid" role="img" aria-label={shown.rows.map((row) => row.join(' ')).join('; ')}>
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

/** Each mark as a row of its own, so that names never lie upon each other. */
function Line({ from, to, marks }: Extract<WrittenView, { kind: 'line' }>) {
  const share = (at: number) => `${100 * Math.min(1, Math.max(0, (at - from) / (to - from)))}%`;
  return (
    <div className="board-line small">
      {marks.map(({ name, at }) => (
        <div key={name}>
          <span className="cut">{name}</span>
          <span className="board-track">
            <i style={{ insetInlineStart: share(at) }} />
          </span>
          <b>{short(at)}</b>
        </div>
      ))}
      <div className="faint">
        <span />
        <span className="row between">
          <span>{short(from)}</span>
          <span>{short(to)}</span>
        </span>
        <span />
      </div>
    </div>
  );
}
