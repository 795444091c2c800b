import { type ReactNode, useEffect, useRef, useState } from 'react';

interface Props {
  readonly first: boolean; // drawn before anybody has looked where it lies
  readonly height: number; // px, roughly, until it has been drawn
  readonly children: () => ReactNode;
}

const AHEAD = '1200px'; // drawn that far before it comes into view

/** A part of something long: drawn where it is in view or nearly, an empty space of the same height elsewhere. */
export function Chunk({ first, height, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [space, setSpace] = useState(first ? null : height); // null: it is drawn
  useEffect(() => {
    const { current } = box;
    if (!current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1);
        if (entry) setSpace((was) => (entry.isIntersecting ? null : (was ?? entry.boundingClientRect.height)));
      },
      { rootMargin: AHEAD },
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} style={space === null ? undefined : { height: space }}>
      {space === null && children()}
    </div>
  );
}
