import type { ReactNode } from 'react';
import { useAddress } from '../address/address.ts';
import { useRoute } from '../address/route.ts';
import { type Place, PLACE_LIST, SCREENS } from '../address/screens.ts';

interface PlaceLinksProps {
  readonly picture?: (place: Place) => ReactNode;
}

/** A link to the first view of each place: the address is what opens it, and what is looked at goes along. */
export function PlaceLinks({ picture }: PlaceLinksProps) {
  const route = useRoute();
  const here = route === 'stage' ? null : SCREENS[route].place; // it is of no place
  const address = useAddress();
  return PLACE_LIST.map(({ place, label, doc, views: [first] }) => (
    <a
      key={place}
      href={first && address(first)}
      title={doc}
      aria-current={place === here ? 'page' : undefined}
      data-place={place}
    >
      {picture?.(place)}
      {label}
    </a>
  ));
}
