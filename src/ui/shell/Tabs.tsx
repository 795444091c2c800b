import '../styles/tabs.css';
import { useEffect, useRef } from 'react';
import { useAddress } from '../address/address.ts';
import { Icon, type IconName } from '../parts/Icon.tsx';
import { useRoute } from '../address/route.ts';
import { SCREEN_LIST } from '../address/screens.ts';
import { SCREEN_ICONS } from './screenIcons.ts';
import { useSelection, type Tab } from './selectionStore.ts';

const TABS: readonly { readonly tab: Tab; readonly label: string; readonly icon: IconName }[] = [
  { tab: 'watch', label: 'Watch', icon: 'watch' },
  { tab: 'curves', label: 'Curves', icon: 'curves' },
  { tab: 'tune', label: 'Tune', icon: 'tune' },
];

/** The lab's panels and the other screens, on a phone. */
export function Tabs() {
  const tab = useSelection((s) => s.tab);
  const route = useRoute();
  const address = useAddress();
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    bar.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [route]);
  const open = (next: Tab) => {
    useSelection.setState({ tab: next });
    if (route !== 'lab') location.assign(address('lab'));
  };
  return (
    <nav ref={bar} className="tabs" aria-label="Panels">
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
      {SCREEN_LIST.map(
        ([screen, { label }]) =>
          screen !== 'lab' && (
            <a key={screen} href={address(screen)} aria-current={route === screen ? 'page' : undefined}>
              <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
                <path d={SCREEN_ICONS[screen]} />
              </svg>
              {label}
            </a>
          ),
      )}
    </nav>
  );
}
