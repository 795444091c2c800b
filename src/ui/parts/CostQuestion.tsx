import { bytes, duration } from '../../page/words/numberText.ts';
import type { Cost } from '../../domain/readings.ts';
import type { Question } from '../../wire/questions.ts';
import type { NoAnswer } from '../../page/training/inspect.ts';
import { acceptCost } from '../../page/view/acceptedCost.ts';

/** A part of a sentence: “about 40 s of computing, and up to 700 MB of memory on top of the run’s”. */
export function costWords({ seconds, bytes: memoryBytes }: Cost): string {
  const memory = memoryBytes > 0 ? `, and up to ${bytes(memoryBytes)} of memory on top of the run’s` : '';
  return `about ${duration(Math.max(1, seconds))} of computing${memory}`;
}

/** Says why there is no answer. If it is only expensive, shows the cost and a button that asks anyway. */
export function CostQuestion({
  kind,
  reply: { message, cost },
}: {
  readonly kind: Question['kind'];
  readonly reply: NoAnswer;
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
