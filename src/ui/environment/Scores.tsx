import type { CheckReport } from '../../written/checker.ts';

const PLAYERS = [
  { player: 'expert', doc: 'your expert' },
  { player: 'chance', doc: 'random calls' },
  { player: 'untrained', doc: 'a model before training' },
  { player: 'nonsense', doc: 'broken calls' },
] as const;

type Earned = Pick<CheckReport, 'expert' | 'chance' | 'nonsense'> & { readonly untrained: number | null };

/** What each player earned on average, side by side. */
export function Scores({ report }: { readonly report: Earned }) {
  const most = Math.max(1, ...PLAYERS.map(({ player }) => report[player] ?? 0));
  return (
    <table className="scores">
      <caption>
        Reward <span className="faint">mean per player</span>
      </caption>
      <tbody>
        {PLAYERS.map(({ player, doc }) => {
          const earned = report[player];
          return (
            <tr key={player} data-player={player}>
              <th scope="row">
                {player} <span className="faint">{doc}</span>
              </th>
              <td aria-hidden="true">
                <span className="score-bar">
                  <span style={{ width: `${(Math.max(0, earned ?? 0) / most) * 100}%` }} />
                </span>
              </td>
              <td className="number">{earned === null ? 'none' : earned.toFixed(2)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
