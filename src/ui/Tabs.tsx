import { useAddress } from './address.ts';
import type { Route } from './hash.ts';
import { Icon, type IconName } from './panels/Icon.tsx';
import { useRoute } from './route.ts';
import { useSelection, type Tab } from './selection-store.ts';

const TABS: readonly { readonly tab: Tab; readonly label: string; readonly icon: IconName }[] = [
  { tab: 'watch', label: 'Watch', icon: 'watch' },
  { tab: 'curves', label: 'Curves', icon: 'curves' },
  { tab: 'tune', label: 'Tune', icon: 'tune' },
];

const PHONE_SCREENS: readonly { readonly route: Route; readonly label: string; readonly icon: string }[] = [
  { route: 'group', label: 'Group', icon: 'M4 5h4v14H4zM10 5h4v14h-4zM16 5h4v14h-4z' },
  { route: 'update', label: 'Update', icon: 'M7 20V5M3 9l4-4 4 4M17 4v15m-4-4 4 4 4-4' },
  { route: 'runs', label: 'Runs', icon: 'M4 18c5 0 5-11 10-11h6M4 18c6 0 8-5 16-5' },
  { route: 'ablate', label: 'Tests', icon: 'M9 3h6M10 3v6L5 19a1.5 1.5 0 0 0 1.4 2h11.2a1.5 1.5 0 0 0 1.4-2L14 9V3' },
  { route: 'learn', label: 'Learn', icon: 'M4 5c4-1 6 0 8 2 2-2 4-3 8-2v13c-4-1-6 0-8 2-2-2-4-3-8-2zM12 7v13' },
];

/** The lab's panels and the other screens, on a phone. */
export function Tabs() {
  const tab = useSelection((s) => s.tab);
  const route = useRoute();
  const address = useAddress();
  const open = (next: Tab) => {
    useSelection.setState({ tab: next });
    if (route !== 'lab') location.assign(address('lab'));
  };
  return (
    <nav className="tabs" aria-label="Panels">
      {TABS.map((entry) => (
        <button
          key={entry.tab}
          type="button"
          aria-current={route === 'lab' && tab === entry.tab ? 'page' : undefined}
          onClick={() => open(entry.tab)}
        >
          <Icon name={entry.icon} />
          {entry.label}
        </button>
      ))}
      {PHONE_SCREENS.map((screen) => (
        <a key={screen.route} href={address(screen.route)} aria-current={route === screen.route ? 'page' : undefined}>
          <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
            <path d={screen.icon} />
          </svg>
          {screen.label}
        </a>
      ))}
    </nav>
  );
}
