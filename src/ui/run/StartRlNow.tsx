import { shorterImitation } from '../../config/imitationRecipe.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { endImitation } from '../../page/training/engine.ts';
import { useLive } from '../../page/view/liveStore.ts';

/** The button that ends imitation early. Nothing is shown if that isn't possible, or the last step is under way. */
export function StartRlNow() {
  const done = useLive((s) => Math.floor(s.phaseDone));
  const config = useConfig((s) => s.applied);
  if (!config || !shorterImitation(config, done + 1)) return null;
  return (
    <button
      type="button"
      className="small"
      title="Ends imitation after the step under way. “Imitation steps” then says how many were taken."
      onClick={endImitation}
    >
      Start RL now
    </button>
  );
}
