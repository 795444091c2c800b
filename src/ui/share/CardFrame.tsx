import type { ReactNode, Ref } from 'react';
import '../charts/lineChart.css';
import './card.css';

/** Size of a card, in SVG units: the ratio of 1.91 to 1 that sites want for link previews. */
export const CARD = { width: 1200, height: 630 };
/** Margin of a card, in SVG units. */
export const PAD = 48;

/** What the marks of the tool's tokens on a card mean. */
export function maskNote(hatched: boolean, dotted: boolean): string {
  if (!dotted) return hatched ? 'Hatched: written by the tool, not trained' : '';
  return `${hatched ? 'Hatched: not trained · ' : ''}Dotted: learned as a prediction`;
}

interface Props {
  readonly title: string; // of the task
  readonly headline: string;
  readonly words: string; // line below the headline
  readonly address: string; // without protocol
  readonly note: string; // what the marks of tokens mean; '' if none are marked
  readonly children: ReactNode;
  readonly ref?: Ref<SVGSVGElement> | undefined;
}

export function CardFrame({ title, headline, words, address, note, children, ref }: Props) {
  const { width, height } = CARD;
  return (
    <svg
      ref={ref}
      className="share-card"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${headline}. ${words}`}
    >
      <rect className="card-ground" width={width} height={height} />
      <rect className="card-edge" width={width} height={8} />
      <text className="card-soft" x={PAD} y={66} fontSize={25}>
        <tspan className="card-brand">Rollout Playground</tspan>
        {title && ` · ${title}`}
      </text>
      <text className="card-head" x={PAD} y={124} fontSize={44}>
        {headline}
      </text>
      <text className="card-soft" x={PAD} y={166} fontSize={27}>
        {words}
      </text>
      {children}
      <text className="card-faint" x={PAD} y={height - 38} fontSize={22}>
        {address}
      </text>
      {note !== '' && (
        <text className="card-faint" x={width - PAD} y={height - 38} fontSize={20} textAnchor="end">
          {note}
        </text>
      )}
    </svg>
  );
}

export const NothingToDraw = () => <p>No rollout is in view yet. Run training, or open the lab with its recording.</p>;
