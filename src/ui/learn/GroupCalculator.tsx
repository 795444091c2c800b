import { useState } from 'react';
import { FIELDS } from '../../config/fields.ts';
import { groupOutlook } from '../../domain/passGate.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { barePercent, percent, shortNumber } from '../../page/words/numberText.ts';

const SIZES = [2, 4, 8, 16, 32, FIELDS.groupSize.max];

/** The share of groups that teach nothing, by group size, from a success rate. It begins with that of the batch in view. */
export function GroupCalculator() {
  const episodes = useLive((s) => s.batch.episodes);
  const solved = episodes.filter((episode) => episode.success).length / episodes.length;
  const [chosen, setChosen] = useState<number | null>(null);
  const rate = chosen ?? (Number.isNaN(solved) ? 0.2 : solved);
  return (
    <section className="stack card" aria-label="Calculator" data-testid="calculator">
      <label className="row">
        Success rate
        <input
          type="range"
          min={0}
          max={1}
          step={0.005}
          value={rate}
          aria-valuetext={percent(rate)}
          onChange={(event) => setChosen(Number(event.target.value))}
        />
        <output>{percent(rate)}</output>
      </label>
      {episodes.length > 0 && (
        <p className="small faint">
          The batch in view solved {percent(solved)} of {episodes.length} rollouts.{' '}
          {chosen !== null && (
            <button type="button" className="quiet small" onClick={() => setChosen(null)}>
              Use that
            </button>
          )}
        </p>
      )}
      <table className="ruled small">
        <caption className="visually-hidden">Groups by size at a success rate of {percent(rate)}</caption>
        <thead>
          <tr>
            <th scope="col">Size</th>
            <th scope="col">Dead, %</th>
            <th scope="col">All right</th>
            <th scope="col">All wrong</th>
            <th scope="col">Spread</th>
          </tr>
        </thead>
        <tbody>
          {SIZES.map((size) => {
            const { dead, allRight, allWrong, spread } = groupOutlook(rate, size);
            return (
              <tr key={size}>
                <th scope="row">{size}</th>
                <td>{barePercent(dead)}</td>
                <td>{barePercent(allRight)}</td>
                <td>{barePercent(allWrong)}</td>
                <td>{shortNumber(spread)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
