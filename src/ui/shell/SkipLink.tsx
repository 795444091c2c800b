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
        document.querySelector<HTMLElement>('nav.screens a[aria-current="page"]')?.focus();
      }}
    >
      Skip to navigation
    </a>
  );
}
