import { useAddress } from '../address/address.ts';
import { useRoute } from '../address/route.ts';

/** The first stop of Tab, seen only there: leads to the navigation, which comes after everything on the screen. */
export function SkipLink() {
  const route = useRoute();
  const address = useAddress();
  return (
    <a
      className="skip-link"
      href={address(route)}
      onClick={(event) => {
        event.preventDefault();
        // a phone has the other of the two bars
        const here = document.querySelectorAll<HTMLElement>('nav:is(.screens, .tabs) > [aria-current="page"]');
        [...here].find((each) => each.getClientRects().length > 0)?.focus();
      }}
    >
      Skip to navigation
    </a>
  );
}
