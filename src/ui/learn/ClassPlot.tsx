import { useRef } from 'react';
import { Bar, BarChart, XAxis, YAxis } from 'recharts';
import { useSize } from '../parts/useSize.ts';
import { chapterNamed } from './chapters.ts';
import { type Column, countsOf, type Line } from './classTable.ts';
import type { Exercise } from './exercise.ts';
import { useSay, useTexts } from './useTexts.ts';

const ROW = 34; // px an exercise
const AXIS = 28;
const NAMES = 190;
const MOST_TICKS = 6;
/** Verdicts in the colours that the table has them in; each stands beside its word, and in one order. */
const BARS = [
  ['right', 'var(--right)'],
  ['wrong', 'var(--wrong)'],
  ['unclear', 'var(--unclear)'],
] as const;

interface Props {
  readonly columns: readonly Column[];
  readonly lines: readonly Line[];
}

/** How many predicted right, wrong, or could not be told, a bar an exercise. */
export function ClassPlot({ columns, lines }: Props) {
  const { chapters } = useTexts();
  const say = useSay();
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const rows = columns.map(({ chapter, exercise, key }) => {
    const all: readonly Exercise[] = chapterNamed(chapter)?.exercises ?? [];
    const n = all.findIndex(({ id }) => id === exercise.id) + 1;
    return {
      exercise: `${chapters[chapter].title}${all.length > 1 ? ` · ${say('exercise', { n })}` : ''}`,
      ...countsOf(lines, key),
    };
  });
  const step = Math.ceil(lines.length / MOST_TICKS);
  const ticks = Array.from({ length: Math.floor(lines.length / step) + 1 }, (_, i) => i * step);
  const names = Math.min(NAMES, width * 0.4);
  return (
    <figure className="card class-plot">
      <figcaption className="row">
        <b>{say('plotCaption')}</b>
        {BARS.map(([verdict, colour]) => (
          <span key={verdict} className="line small">
            <svg width="12" height="12" aria-hidden="true">
              <rect width="12" height="12" rx="2" fill={colour} />
            </svg>
            {say(verdict)}
          </span>
        ))}
      </figcaption>
      <div ref={box} role="img" aria-label={rows.map((row) => say('plotSentence', row)).join(' ')}>
        {width > 100 && (
          <BarChart
            width={width}
            height={rows.length * ROW + AXIS}
            data={rows}
            layout="vertical"
            margin={{ top: 0, right: 12, bottom: 0, left: 0 }}
            accessibilityLayer={false}
          >
            <XAxis
              type="number"
              ticks={ticks}
              domain={[0, lines.length]}
              tick={{ fill: 'var(--ink-2)', fontSize: 12 }}
              height={AXIS}
            />
            <YAxis
              type="category"
              dataKey="exercise"
              width={names}
              interval={0}
              tickLine={false}
              tick={{ fill: 'var(--ink-2)', fontSize: 12 }}
            />
            {BARS.map(([verdict, colour]) => (
              <Bar key={verdict} dataKey={verdict} stackId="verdicts" fill={colour} isAnimationActive={false} />
            ))}
          </BarChart>
        )}
      </div>
    </figure>
  );
}
