/** Where a card stands. */
export type Place = Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>;

/**
 * The card that a key leads to from the one at `at`: left and right go on in order, up and down to the nearest row in that direction
 * and there to the card that stands nearest; Home and End to the ends. The same card if there is none; −1 for other keys.
 */
export function nextCard(places: readonly Place[], at: number, key: string): number {
  const from = places[at];
  if (!from) return -1;
  switch (key) {
    case 'ArrowRight':
      return Math.min(places.length - 1, at + 1);
    case 'ArrowLeft':
      return Math.max(0, at - 1);
    case 'Home':
      return 0;
    case 'End':
      return places.length - 1;
    case 'ArrowDown':
    case 'ArrowUp':
      return nearest(places, from, key === 'ArrowDown' ? 1 : -1) ?? at;
    default:
      return -1;
  }
}

function nearest(places: readonly Place[], from: Place, way: 1 | -1): number | null {
  const ahead = [...places.keys()].filter((i) => way * ((places[i]?.top ?? 0) - from.top) > 1);
  const away = (i: number) => way * ((places[i]?.top ?? 0) - from.top);
  const row = Math.min(...ahead.map(away));
  const side = (i: number) => Math.abs((places[i]?.left ?? 0) - from.left);
  const inRow = ahead.filter((i) => away(i) < row + 1);
  return inRow.reduce<number | null>((best, i) => (best === null || side(i) < side(best) ? i : best), null);
}
