import type { BaselineName as Place } from './frame.ts';

/** The name of what a curve is compared with, beside the plot and level with its line, or led to where there is room. */
export function BaselineName({ name: { text, x, y, line } }: { readonly name: Place }) {
  return (
    <>
      <path className="baseline-lead" d={`M${x - 7} ${line}L${x - 2} ${y - 3}`} />
      <text className="baseline-label" x={x} y={y}>
        {text}
      </text>
    </>
  );
}
