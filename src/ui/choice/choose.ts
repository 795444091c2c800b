import type { PresetName } from '../../config/presets.ts';
import { choosePreset, presetConfig } from '../knobs/configStore.ts';
import { useLive } from '../run/liveStore.ts';
import { hasFacts } from '../knobs/factsStore.ts';
import { start } from '../run/transport.ts';
import { useSelection } from '../shell/selectionStore.ts';

/** Takes a preset, and what is chosen from here on is about it; a run that is there gives way to one of its own, running if that one was. */
export function choose(preset: PresetName): void {
  useSelection.setState({ choosing: false });
  choosePreset(preset);
  const { session, running } = useLive.getState();
  // another preset is another run, for its knobs make no sense on the old one; one that waits for a file begins once that is there
  if (session === 'ready' && (presetConfig(preset).env !== 'your-facts' || hasFacts())) start(running);
}
