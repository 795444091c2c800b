/** Where a curve is drawn, in pixels. */
interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A loss by step as the path of an SVG, from 0 at the bottom to the largest one at the top; `most` is that one. */
export function lossPath(losses: readonly number[], { left, top, right, bottom }: Box) {
  const finite = losses.map((loss, step) => ({ loss, step })).filter(({ loss }) => Number.isFinite(loss));
  const most = Math.max(0, ...finite.map(({ loss }) => loss));
  const points = finite.map(({ loss, step }) => {
    const x = left + ((right - left) * step) / Math.max(1, losses.length - 1);
    const y = bottom - (most > 0 ? ((bottom - top) * Math.max(0, loss)) / most : 0);
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  return { path: points.length > 0 ? `M${points.join('L')}` : '', most };
}
