import { colourOf, DASHES } from '../../page/runs/line.ts';

export function Swatch({ slot }: { readonly slot: number }) {
  return (
    <svg className="run-swatch" width="26" height="10" aria-hidden="true">
      <path className="run-line" d="M1 5H25" style={{ stroke: colourOf(slot) }} strokeDasharray={DASHES[slot]} />
    </svg>
  );
}
