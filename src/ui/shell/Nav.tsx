import { useLayoutEffect, useRef } from 'react';
import { PlaceLinks } from './PlaceLinks.tsx';

/** The places, as links at the end of the header. */
export function Nav() {
  const nav = useRef<HTMLElement>(null);
  // they lie over the header, which leaves as much room as they take in the reader's font
  useLayoutEffect(() => {
    const box = nav.current;
    if (!box) return;
    const leaveRoom = () => box.parentElement?.style.setProperty('--screens', `${box.offsetWidth}px`);
    leaveRoom();
    const observer = new ResizeObserver(leaveRoom);
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  return (
    <nav className="segments screens" aria-label="Places" ref={nav}>
      <PlaceLinks />
    </nav>
  );
}
