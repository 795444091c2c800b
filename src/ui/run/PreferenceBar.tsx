import { percent, shortNumber } from '../../page/words/numberText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { Icon } from '../parts/Icon.tsx';
import './preferences.css';

export function PreferenceBar() {
  const preferences = useLive((s) => s.preferences);
  return (
    <div className="row between preference-bar panel" data-testid="preference-bar">
      <span>
        <b>Reward model</b>{' '}
        {preferences
          ? `${preferences.pairs} pairs by the simulated labeller, ${preferences.clicks} by you · loss ${shortNumber(preferences.loss)} · agreement ${percent(preferences.agreement ?? undefined)}`
          : 'not trained yet'}
      </span>
      <button type="button" onClick={() => useSelection.setState({ preferring: true })}>
        <Icon name="compare" /> Which is better?
      </button>
    </div>
  );
}
