import { useRef } from 'react';
import { Bar, BarChart, XAxis, YAxis } from 'recharts';
import { useSize } from '../../page/browser/useSize.ts';
import { chapterNamed } from '../../page/learn/chapters.ts';
import { type Column, countsOf, type StudentResults } from '../../page/learn/classTable.ts';
import type { Exercise } from '../../page/learn/exercise.ts';
import { say } from '../../page/learn/catalogue.ts';
import { CHAPTER_TEXTS } from '../../page/learn/chapterTexts.ts';

const ROW_HEIGHT = 34; // px per exercise
const X_AXIS_HEIGHT = 28; // px
const MAX_NAME_WIDTH = 190; // px
const MAX_TICKS = 6;
/** The verdicts in the order of the bars and the legend, in the same colours as in the table. */
const BARS = [
  ['right', 'var(--right)'],
  ['wrong', 'var(--wrong)'],
  ['unclear', 'var(--unclear)'],
] as const;

interface Props {
  readonly columns: readonly Column[];
  readonly students: readonly StudentResults[];
}

export function ClassPlot({ columns, students }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const rows = columns.map(({ chapter, exercise, key }) => {
    const all: readonly Exercise[] = chapterNamed(chapter)?.exercises ?? [];
    const n = all.findIndex(({ id }) => id === exercise.id) + 1;
    return {
      exercise: `${CHAPTER_TEXTS[chapter].title}${all.length > 1 ? ` · ${say('exercise', { n })}` : ''}`,
      ...countsOf(students, key),
    };
  });
  const step = Math.ceil(students.length / MAX_TICKS);
  const ticks = Array.from({ length: Math.floor(students.length / step) + 1 }, (_, i) => i * step);
  const nameWidth = Math.min(MAX_NAME_WIDTH, width * 0.4);
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
            height={rows.length * ROW_HEIGHT + X_AXIS_HEIGHT}
            data={rows}
            layout="vertical"
            margin={{ top: 0, right: 12, bottom: 0, left: 0 }}
            accessibilityLayer={false}
          >
            <XAxis
              type="number"
              ticks={ticks}
              domain={[0, students.length]}
              tick={{ fill: 'var(--ink-2)', fontSize: 12 }}
              height={X_AXIS_HEIGHT}
            />
            <YAxis
              type="category"
              dataKey="exercise"
              width={nameWidth}
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
