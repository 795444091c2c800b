import { useRef } from 'react';
import { shortNumber } from '../../page/words/numberText.ts';
import { useSize } from '../../page/browser/useSize.ts';
import { X_AXIS_HEIGHT, RIGHT_MARGIN, Y_AXIS_WIDTH, TOP_MARGIN } from '../../page/view/frame.ts';
import { LineChart } from './LineChart.tsx';
import { type Chart, edgeAttributes } from '../../page/curves/plot.ts';

export function LossCurve({ losses }: { readonly losses: readonly number[] }) {
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const [first = NaN, last = NaN] = [losses[0], losses.at(-1)];
  const steps = losses.map((_, step) => step);
  const maxLoss = Math.max(0, ...losses.filter(Number.isFinite));
  const chart: Chart = {
    plot: {
      ...{ width, height, left: Y_AXIS_WIDTH, right: RIGHT_MARGIN, top: TOP_MARGIN, bottom: X_AXIS_HEIGHT },
      x: { from: 0, to: losses.length - 1 },
      y: { domain: [0, maxLoss || 1], log: false },
    },
    valueTicks: [maxLoss, ...(maxLoss > 0 ? [0] : [])].map((loss) => ({ value: loss, text: shortNumber(loss) })),
    updateTicks: [{ value: losses.length - 1, text: `step ${losses.length}`, anchor: 'end' }],
    gridLines: [0],
    lines: [{ cssClass: 'smooth', x: steps, y: losses }],
  };
  return (
    <figure
      className="card chart imitation-curve"
      title="−mean log π of the demonstrations, before each step"
      data-testid="imitation-curve"
    >
      <figcaption>
        <span className="cut soft">Imitation loss</span>
        <span className="end strong">{shortNumber(last)}</span>
      </figcaption>
      <div
        className="plot"
        ref={box}
        {...edgeAttributes(chart.plot)}
        role="img"
        aria-label={`Imitation loss over ${losses.length} steps: ${shortNumber(first)} at the first, ${shortNumber(last)} at the last.`}
      >
        {width > 40 && <LineChart chart={chart} />}
      </div>
    </figure>
  );
}
