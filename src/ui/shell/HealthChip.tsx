import type { HealthState } from '../../domain/health.ts';
import { useLive } from '../run/liveStore.ts';
import { useSelection } from './selectionStore.ts';
import { Icon, type IconName } from '../parts/Icon.tsx';

/** How each state is told apart without colour. */
export const HEALTH: Readonly<Record<HealthState, { readonly word: string; readonly icon: IconName }>> = {
  ok: { word: 'OK', icon: 'check' },
  watch: { word: 'WATCH', icon: 'watch' },
  trap: { word: 'TRAP', icon: 'alert' },
};

const SAYS: Readonly<Record<HealthState, string>> = {
  ok: 'The Echo Trap monitor: no sign that the agent collapses into repeating itself.',
  watch: 'The Echo Trap monitor: first signs that the agent collapses into repeating itself.',
  trap: 'The Echo Trap monitor: the agent collapses into repeating itself.',
};

/** The monitor in a word; opens its panel. Nothing before it has spoken. */
export function HealthChip() {
  const state = useLive((s) => s.health?.state);
  const open = useSelection((s) => s.health);
  if (!state) return null;
  const { word, icon } = HEALTH[state];
  return (
    <button
      type="button"
      className="health-chip"
      data-state={state}
      data-testid="health"
      aria-expanded={open}
      title={`${SAYS[state]} Press for the signs.`}
      onClick={() => {
        useSelection.setState({ health: !open, ...(!open && { tab: 'watch' }) });
        // the panel opens at the top of what may be scrolled away
        if (!open) document.querySelector('.stage')?.scrollTo({ top: 0 });
      }}
    >
      <Icon name={icon} />
      <span>
        {word}
        <span className="visually-hidden"> run health</span>
      </span>
    </button>
  );
}
