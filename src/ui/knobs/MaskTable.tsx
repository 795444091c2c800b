import { useShallow } from 'zustand/react/shallow';
import { edit, useConfig } from './configStore.ts';
import { maskPhrase } from './maskSentence.ts';
import { overrides } from '../../config/masks.ts';

const STATES = ['on', 'off'] as const;

/** The four cells of the two switches: what becomes of the tool's words in each, for the algorithm at hand. */
export function MaskTable() {
  const now = useConfig(useShallow(({ wanted: { lossMask, advantageMask } }) => ({ lossMask, advantageMask })));
  const overridden = useConfig((s) => overrides(s.wanted).length > 0);
  return (
    <table className="mask-table">
      <caption>Observation tokens, in each of the four cases{overridden && ' with the overrides below'}</caption>
      <thead>
        <tr>
          <td />
          {STATES.map((state) => (
            <th key={state} scope="col">
              advantage mask {state}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {STATES.map((lossMask) => (
          <tr key={lossMask}>
            <th scope="row">loss mask {lossMask}</th>
            {STATES.map((advantageMask) => (
              <td key={advantageMask}>
                <Cell
                  {...{ lossMask, advantageMask }}
                  here={now.lossMask === lossMask && now.advantageMask === advantageMask}
                />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface CellProps {
  readonly lossMask: 'on' | 'off';
  readonly advantageMask: 'on' | 'off';
  readonly here: boolean;
}

function Cell({ lossMask, advantageMask, here }: CellProps) {
  const phrase = useConfig((s) => maskPhrase({ ...s.wanted, lossMask, advantageMask }));
  return (
    <button type="button" aria-pressed={here} onClick={() => edit({ lossMask, advantageMask })}>
      {here && <span className="chip here">now</span>} {phrase}
    </button>
  );
}
