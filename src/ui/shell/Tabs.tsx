import '../styles/tabs.css';
import { PLACE_ICONS } from './placeIcons.ts';
import { PlaceLinks } from './PlaceLinks.tsx';

/** The places at a phone's lower edge, each with its picture. */
export function Tabs() {
  return (
    <nav className="tabs" aria-label="Places">
      <PlaceLinks
        picture={(place) => (
          <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
            <path d={PLACE_ICONS[place]} />
          </svg>
        )}
      />
    </nav>
  );
}
