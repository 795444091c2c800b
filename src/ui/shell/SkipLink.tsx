import { useAddress } from '../../page/view/address.ts';
import { useRoute } from '../../page/address/route.ts';

/** The first Tab stop, visible only while focused. Leads to the navigation, which comes last in the document. */
export function SkipLink() {
  const route = useRoute();
  const address = useAddress();
  return (
    <a
      className="skip-link"
      href={address(route)}
      onClick={(event) => {
        event.preventDefault();
        // only one of the two bars is visible: .tabs on a phone, otherwise .screens
        const links = document.querySelectorAll<HTMLElement>('nav:is(.screens, .tabs) > [aria-current="page"]');
        [...links].find((link) => link.getClientRects().length > 0)?.focus();
      }}
    >
      Skip to navigation
    </a>
  );
}
