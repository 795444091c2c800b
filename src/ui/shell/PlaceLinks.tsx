import type { ReactNode } from 'react';
import { useAddress } from '../../page/view/address.ts';
import { useRoute } from '../../page/address/route.ts';
import { type Place, PLACE_LIST, SCREENS } from '../../page/address/screens.ts';

interface PlaceLinksProps {
  readonly icon?: (place: Place) => ReactNode;
}

/** A link to the first view of each place. The link keeps the knobs and what is selected. */
export function PlaceLinks({ icon }: PlaceLinksProps) {
  const route = useRoute();
  const currentPlace = route === 'stage' ? null : SCREENS[route].place; // the start screen belongs to no place
  const address = useAddress();
  return PLACE_LIST.map(({ place, label, doc, views: [first] }) => (
    <a
      key={place}
      href={first && address(first)}
      title={doc}
      aria-current={place === currentPlace ? 'page' : undefined}
      data-place={place}
    >
      {icon?.(place)}
      {label}
    </a>
  ));
}
