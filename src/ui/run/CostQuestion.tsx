import { bytes, duration } from '../parts/numberText.ts';
import type { Cost } from '../../domain/cost.ts';
import type { Question } from '../../wire/questions.ts';
import type { Missing } from './inspect.ts';
import { acceptCost } from './acceptedCost.ts';

/** What an answer takes, as a part of a sentence: “about 40 s, and up to 700 MB of memory beside the run's”. */
export function costWords({ seconds, bytes: more }: Cost): string {
  const memory = more > 0 ? `, and up to ${bytes(more)} of memory on top of the run’s` : '';
  return `about ${duration(Math.max(1, seconds))} of computing${memory}`;
}

/** In place of an answer: why there is none; where it only costs much, what, and a button that asks all the same. */
export function CostQuestion({
  kind,
  reply: { message, cost },
}: {
  readonly kind: Question['kind'];
  readonly reply: Missing;
}) {
  if (!cost) return <p className="faint">{message}</p>;
  return (
    <div className="unanswered" data-testid="dear">
      <p className="faint">
        This runs the model a second time, on the CPU: {costWords(cost)}. Training continues, more slowly. Pause it for
        a faster answer.
      </p>
      <button type="button" onClick={() => acceptCost(kind)}>
        Ask anyway
      </button>
    </div>
  );
}
