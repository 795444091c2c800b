import type { HealthState } from '../../domain/health.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { Icon, type IconName } from '../parts/Icon.tsx';

/** A word and an icon for each state, so that it can be recognised without colour. */
export const HEALTH: Readonly<Record<HealthState, { readonly word: string; readonly icon: IconName }>> = {
  ok: { word: 'OK', icon: 'check' },
  watch: { word: 'WATCH', icon: 'watch' },
  trap: { word: 'TRAP', icon: 'alert' },
};

const TOOLTIPS: Readonly<Record<HealthState, string>> = {
  ok: 'The Echo Trap monitor: no sign that the agent collapses into repeating itself.',
  watch: 'The monitor: a first sign that rollouts become alike, success falls, or the reward rises without it.',
  trap: 'The Echo Trap monitor: the agent collapses into repeating itself.',
};

/** The monitor's state in a word; a press opens or closes its panel. Renders nothing before the first result. */
export function HealthChip() {
  const state = useLive((s) => s.health?.state);
  const open = useSelection((s) => s.health);
  if (!state) return null;
  const { word, icon } = HEALTH[state];
  return (
    <button
      type="button"
      className="health-chip gap-2 accent strong"
      data-state={state}
      data-testid="health"
      aria-expanded={open}
      title={`${TOOLTIPS[state]} Press for the signs.`}
      onClick={() => {
        useSelection.setState({ health: !open, ...(!open && { tab: 'watch' }) });
        // the panel opens at the top, which may be scrolled out of view
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
