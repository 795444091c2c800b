import { useId } from 'react';
import type { Rollout } from '../../page/rollout/readRollout.ts';
import { textWidth } from '../../page/browser/textWidth.ts';

const FONT_SIZE = 20;
const LINE_HEIGHT = 38;
const TOKEN_HEIGHT = 30;
const WORD_PAD = 7; // left and right of a word

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Props {
  readonly rollout: Rollout;
  readonly positions: readonly number[]; // of the tokens shown, ascending
  readonly isTrained: (position: number) => boolean;
  readonly isPredicted?: (position: number) => boolean; // default: none is
  readonly box: Box;
}

/** Tokens of a rollout in lines, the newest at the end. Tokens that aren't trained are hatched; those learned as a prediction are dotted. */
export function CardTokens({ rollout, positions, isTrained, isPredicted, box }: Props) {
  const [hatch, dots] = [useId(), useId()];
  const gap = rollout.writing === 'words' ? 4 : 0;
  const words = positions.map((t): Word => {
    const written = (rollout.words[t] ?? '').replaceAll('\n', '⏎');
    return { t, text: written, width: textWidth(written, FONT_SIZE) + (gap > 0 ? 2 * WORD_PAD : 1) };
  });
  const lines = brokenLines(words, box.width, gap, Math.max(1, Math.floor(box.height / LINE_HEIGHT)));
  return (
    <svg {...box}>
      <pattern id={hatch} width={8} height={8} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <path className="card-hatch" d="M0 0V8" />
      </pattern>
      <pattern id={dots} width={7} height={7} patternUnits="userSpaceOnUse">
        <circle className="card-dot" cx={3.5} cy={3.5} r={1.4} />
      </pattern>
      {lines.map((line, row) =>
        line.map(({ t, text, x, width }) => {
          const trained = t >= 0 && isTrained(t);
          const y = LINE_HEIGHT * row;
          return (
            <g key={t} className="card-token" data-kind={t < 0 ? 'prompt' : (rollout.kinds[t] ?? 'prompt')}>
              {t >= 0 && !trained && (
                <rect
                  x={x}
                  y={y}
                  width={width}
                  height={TOKEN_HEIGHT}
                  rx={4}
                  fill={`url(#${isPredicted?.(t) ? dots : hatch})`}
                />
              )}
              <text x={x + (gap > 0 ? WORD_PAD : 0)} y={y + 22} fontSize={FONT_SIZE} xmlSpace="preserve">
                {text}
              </text>
            </g>
          );
        }),
      )}
    </svg>
  );
}

export interface Word {
  readonly t: number; // position in the rollout; −1: the "…" for tokens left out
  readonly text: string;
  readonly width: number; // with its own margins
}

export type PlacedWord = Word & { readonly x: number };

/** If there are more than `maxLines`, keeps the last ones, with "…" before them. */
export function brokenLines(
  words: readonly Word[],
  width: number,
  gap: number,
  maxLines: number,
): readonly (readonly PlacedWord[])[] {
  const lines: PlacedWord[][] = [];
  let x = 0;
  for (const word of words) {
    if (lines.length === 0 || x + word.width > width) {
      lines.push([]);
      x = 0;
    }
    lines.at(-1)?.push({ ...word, x });
    x += word.width + gap;
  }
  if (lines.length <= maxLines) return lines;
  const [first = [], ...rest] = lines.slice(-maxLines);
  const ellipsisWidth = first[0]?.width ?? 0;
  const remaining = first.slice(1); // "…" replaces the first word
  return [[{ t: -1, text: '…', width: ellipsisWidth, x: 0 }, ...remaining], ...rest];
}
