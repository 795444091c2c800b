import { FIELDS } from '../../config/config.ts';
import { edit, useConfig } from '../knobs/configStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { Icon } from '../parts/Icon.tsx';

/** From the reward knobs to the preferences; without a reward model it can be asked for here. */
export function PreferenceButton() {
  const on = useConfig((s) => s.wanted.rewardModel === 'on');
  return (
    <div className="row preference-door">
      <button type="button" className="quiet" onClick={() => useSelection.setState({ preferring: true })}>
        <Icon name="compare" /> Preferences and RLHF…
      </button>
      {!on && (
        <button type="button" className="quiet" onClick={() => edit({ rewardModel: 'on', preferenceReward: 1 })}>
          {FIELDS.rewardModel.label} on
        </button>
      )}
    </div>
  );
}
