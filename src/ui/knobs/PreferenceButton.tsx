import { FIELDS } from '../../config/config.ts';
import { editKnobs, useConfig } from '../../page/knobs/configStore.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { Icon } from '../parts/Icon.tsx';

/** Buttons among the reward knobs: to open the preferences, and to turn on the reward model if it's off. */
export function PreferenceButton() {
  const hasRewardModel = useConfig((s) => s.wanted.rewardModel === 'on');
  return (
    <div className="row preference-door">
      <button type="button" className="quiet" onClick={() => useSelection.setState({ preferring: true })}>
        <Icon name="compare" /> Preferences and RLHF…
      </button>
      {!hasRewardModel && (
        <button type="button" className="quiet" onClick={() => editKnobs({ rewardModel: 'on', preferenceReward: 1 })}>
          {FIELDS.rewardModel.label} on
        </button>
      )}
    </div>
  );
}
