import { type KeyboardEvent, type PointerEvent, useRef } from 'react';
import { percent } from '../parts/numberText.ts';
import { useSize } from '../parts/useSize.ts';
import { updateAt } from '../curves/plot.ts';
import { Curve, curvePlot } from '../replay/Curve.tsx';
import { toUpdate } from './stageStore.ts';

interface Props {
  readonly success: readonly number[]; // by update from 1
  readonly updates: readonly number[]; // whose agent can be shown, rising
  readonly shown: number; // the one that is
  readonly until: number; // updates that the run is to have
  readonly behind: readonly number[] | null; // the recorded run, behind the reader's own
}

const FAR = 4; // places that a page key goes
const HEIGHT = { least: 58, most: 150 }; // px

/** The learning curve to drag along: the board at the right shows the agent of the update it is dragged to. */
export function LearningCurve({ success, updates, shown, until, behind }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const at = Math.max(0, updates.indexOf(shown));
  const last = updates.length - 1;
  const go = (to: number) => toUpdate(updates[Math.min(last, Math.max(0, to))] ?? null);
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (event.type === 'pointerdown') event.currentTarget.setPointerCapture(event.pointerId);
    else if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const { left } = event.currentTarget.getBoundingClientRect();
    const plot = curvePlot({ updates, until, size: { width, height } });
    const wanted = updateAt(plot, event.clientX - left);
    const distance = (i: number) => Math.abs((updates[i] ?? 0) - wanted);
    go(updates.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0));
  };
  const onKey = (event: KeyboardEvent) => {
    const to = placeFor(event.key, at, last);
    if (to === null) return;
    event.preventDefault();
    go(to);
  };
  const rate = success[Math.max(0, shown - 1)];
  return (
    <div
      ref={box}
      className="learning-curve"
      role="slider"
      tabIndex={0}
      aria-label="Drag through training"
      aria-valuemin={updates[0] ?? 0}
      aria-valuemax={updates.at(-1) ?? 0}
      aria-valuenow={shown}
      aria-valuetext={shown === 0 ? 'Before training' : `After ${shown} updates, training success ${percent(rate)}`}
      onPointerDown={drag}
      onPointerMove={drag}
      onKeyDown={onKey}
    >
      {at === last && behind === null && (
        <span className="learning-curve-hint" aria-hidden="true">
          ◂ drag: watch it learn
        </span>
      )}
      {width > 0 && (
        <Curve
          {...{ success, updates, at, until }}
          dots={false}
          titled
          {...(behind && { behind })}
          size={{ width, height: Math.min(HEIGHT.most, Math.max(HEIGHT.least, height)) }}
          label={`Training success by update, up to update ${success.length}`}
        />
      )}
    </div>
  );
}

/** Where a key leads from a place; null for keys that lead nowhere. */
function placeFor(key: string, at: number, last: number): number | null {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return at - 1;
    case 'ArrowRight':
    case 'ArrowUp':
      return at + 1;
    case 'PageDown':
      return at - FAR;
    case 'PageUp':
      return at + FAR;
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}
