import { useLayoutEffect, useRef } from 'react';
import { PlaceLinks } from './PlaceLinks.tsx';

/** Links to the places, at the end of the header. */
export function Nav() {
  const nav = useRef<HTMLElement>(null);
  // the links lie over the header, so it needs their width, which depends on the reader's font
  useLayoutEffect(() => {
    const box = nav.current;
    if (!box) return;
    const reserveWidth = () => box.parentElement?.style.setProperty('--screens', `${box.offsetWidth}px`);
    reserveWidth();
    const observer = new ResizeObserver(reserveWidth);
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  return (
    <nav className="segments screens" aria-label="Places" ref={nav}>
      <PlaceLinks />
    </nav>
  );
}
