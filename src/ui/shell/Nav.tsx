import { useAddress } from '../address/address.ts';
import { useRoute } from '../address/route.ts';
import { SCREEN_LIST } from '../address/screens.ts';

/** The screens, as links: the address is what opens them, and what is looked at goes along. */
export function Nav() {
  const route = useRoute();
  const address = useAddress();
  return (
    <nav className="segments screens" aria-label="Screens">
      {SCREEN_LIST.map(([screen, { label }]) => (
        <a key={screen} href={address(screen)} aria-current={route === screen ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
