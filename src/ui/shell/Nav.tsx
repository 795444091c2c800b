import { useLayoutEffect, useRef } from 'react';
import { useAddress } from '../address/address.ts';
import { useRoute } from '../address/route.ts';
import { SCREEN_LIST } from '../address/screens.ts';

/** The screens, as links: the address is what opens them, and what is looked at goes along. */
export function Nav() {
  const route = useRoute();
  const address = useAddress();
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
    <nav className="segments screens" aria-label="Screens" ref={nav}>
      {SCREEN_LIST.map(([screen, { label }]) => (
        <a key={screen} href={address(screen)} aria-current={route === screen ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
