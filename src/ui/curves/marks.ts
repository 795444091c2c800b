/** Changes of knobs that share a mark on a chart, as they lie too close for one each. */
export interface Mark {
  readonly update: number; // of the first
  readonly text: string; // which they are in the list of changes, counted from 1: "3", "3–5"
}

/** Marks of changes at these updates, which rise, those in view alone, none closer than `gap` updates to the one before. */
export function marksOf(
  changes: readonly { readonly update: number }[],
  [from, to]: readonly [number, number],
  gap: number,
): readonly Mark[] {
  const marks: { update: number; first: number; last: number }[] = [];
  changes.forEach(({ update }, i) => {
    if (update < from || update > to) return;
    const open = marks.at(-1);
    if (open && update - open.update < gap) open.last = i + 1;
    else marks.push({ update, first: i + 1, last: i + 1 });
  });
  return marks.map(({ update, first, last }) => ({ update, text: first === last ? `${first}` : `${first}–${last}` }));
}
