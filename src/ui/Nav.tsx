import { useAddress } from './address.ts';
import type { Route } from './hash.ts';
import { useRoute } from './route.ts';

const SCREENS: readonly { readonly route: Route; readonly label: string }[] = [
  { route: 'lab', label: 'Lab' },
  { route: 'group', label: 'Group' },
  { route: 'update', label: 'Update' },
  { route: 'runs', label: 'Runs' },
  { route: 'ablate', label: 'Experiments' },
  { route: 'profile', label: 'Profile' },
  { route: 'learn', label: 'Learn' },
];

/** The screens, as links: the address is what opens them, and what is looked at goes along. */
export function Nav() {
  const route = useRoute();
  const address = useAddress();
  return (
    <nav className="screens" aria-label="Screens">
      {SCREENS.map((screen) => (
        <a key={screen.route} href={address(screen.route)} aria-current={route === screen.route ? 'page' : undefined}>
          {screen.label}
        </a>
      ))}
    </nav>
  );
}
