import { useId, useMemo } from 'react';
import { ALGORITHM_NAMES, ALGORITHMS, type AlgorithmName } from '../../config/algorithms.ts';
import { FIELDS } from '../../config/config.ts';
import { chooseAlgorithm, isCustom, lacksCritic, standing } from './algorithm.ts';
import { useConfig } from './configStore.ts';
import { start } from '../run/engine.ts';
import { knobText } from '../../config/knobText.ts';
import { useLive } from '../run/liveStore.ts';
import { Icon } from '../parts/Icon.tsx';

const CUSTOM = 'custom';

/** Names the algorithm the knobs make up, and sets all of them to another. */
export function AlgorithmPanel() {
  const wanted = useConfig((s) => s.wanted);
  const { name, apart } = useMemo(() => standing(wanted), [wanted]);
  const bare = useConfig((s) => lacksCritic(s.wanted, s.applied));
  const id = useId();
  const { label, doc } = ALGORITHMS[name];
  const custom = isCustom(apart);
  const choose = (value: string) => {
    if (value !== CUSTOM) chooseAlgorithm(value as AlgorithmName);
  };
  return (
    <div className="algorithm" data-testid="algorithm" data-algorithm="">
      <div className="row algorithm-row">
        <h2>
          <label htmlFor={id}>Algorithm</label>
        </h2>
        <select id={id} value={custom ? CUSTOM : name} onChange={(event) => choose(event.target.value)}>
          {custom && <option value={CUSTOM}>custom</option>}
          {ALGORITHM_NAMES.map((each) => (
            <option key={each} value={each}>
              {ALGORITHMS[each].label}
            </option>
          ))}
        </select>
      </div>
      {apart.length > 0 && (
        <div className="row between soft algorithm-apart">
          <p>
            {custom ? `Closest to ${label}, except for` : `${label}, but with`}{' '}
            {apart.map((field) => `${FIELDS[field].label} ${knobText(wanted[field])}`).join(', ')}.
          </p>
          <button type="button" className="quiet" onClick={() => chooseAlgorithm(name)}>
            Set to {label}
          </button>
        </div>
      )}
      <p className="soft algorithm-doc">{doc}</p>
      {bare && (
        <div className="note">
          <p>{label} needs a critic, and this run has none. The run continues unchanged until a restart.</p>
          <button type="button" onClick={() => start(useLive.getState().running)}>
            <Icon name="restart" /> Restart with a critic
          </button>
        </div>
      )}
    </div>
  );
}
