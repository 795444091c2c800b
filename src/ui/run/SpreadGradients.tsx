import { useMemo, useState } from 'react';
import type { BatchView } from '../../domain/batch.ts';
import type { SpreadBucket, SpreadTerm } from '../../domain/readings.ts';
import type { Question } from '../../wire/questions.ts';
import { useAnswer, useUpdateFinished } from '../../page/training/runAnswers.ts';
import { useCostAccepted } from '../../page/view/acceptedCost.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { counted, shortNumber } from '../../page/words/numberText.ts';
import { CostQuestion } from '../parts/CostQuestion.tsx';
import './inputPlane.css';

interface Asked {
  readonly batch: BatchView;
  readonly anyway: boolean;
}

const ask = ({ batch, anyway }: Asked): Question => ({ kind: 'spread-gradients', update: batch.update, anyway });

/** RAGEN-2's gradient analysis of the batch in view: the gradient of each loss term, by the reward spread of groups. */
export function SpreadGradients() {
  const batch = useLive((s) => s.batch);
  const anyway = useCostAccepted('spread-gradients');
  const isFinished = useUpdateFinished(batch.update);
  const [wanted, want] = useState<BatchView | null>(null); // a newer batch waits for another press
  const subject = useMemo(() => wanted && { batch: wanted, anyway }, [wanted, anyway]);
  const answered = useAnswer('spread-gradients', subject, ask);
  const reply = answered?.subject === subject ? answered.reply : undefined;
  return (
    <figure className="card chart spread-gradients stack small" data-testid="spread-gradients">
      <figcaption>
        <span className="cut soft">Which groups does the gradient come from?</span>
      </figcaption>
      {wanted && !reply && <p className="faint">Computing the gradients of update {wanted.update}…</p>}
      {wanted && reply && !reply.ok && <CostQuestion kind="spread-gradients" reply={reply} />}
      {wanted && reply?.ok && <Buckets update={wanted.update} buckets={reply.answer.buckets} />}
      {wanted !== batch && (
        <button type="button" disabled={batch.rows === 0 || !isFinished} onClick={() => want(batch)}>
          Compute for update {batch.update}
        </button>
      )}
    </figure>
  );
}

const TERMS: Readonly<Record<SpreadTerm, string>> = { task: 'Task', kl: 'KL', entropy: 'Entropy' };
const TERM_NAMES = Object.keys(TERMS) as readonly SpreadTerm[];

function Buckets({ update, buckets }: { readonly update: number; readonly buckets: readonly SpreadBucket[] | null }) {
  if (!buckets) return <p className="faint">The weights of this update are no longer kept.</p>;
  const [least] = buckets;
  const most = buckets.at(-1);
  if (!least || !most) return <p className="faint">The update learned from no group.</p>;
  const terms = TERM_NAMES.filter((term) => buckets.some(({ norms }) => norms[term] > 0));
  const highest = Math.max(...buckets.flatMap(({ norms }) => Object.values(norms)));
  return (
    <>
      <table>
        <caption className="visually-hidden">Gradient norms of update {update} by the groups’ reward spread</caption>
        <thead>
          <tr className="faint">
            <th scope="col" title="Standard deviation of a group’s rewards">
              Spread
            </th>
            {terms.map((term) => (
              <th key={term} scope="col">
                {TERMS[term]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {buckets.map(({ from, to, groups, norms }, i) => (
            <tr key={i}>
              <th scope="row" title={counted(groups, 'group')}>
                {from === to ? shortNumber(from) : `${shortNumber(from)} – ${shortNumber(to)}`}
              </th>
              {terms.map((term) => (
                <td key={term} className="number">
                  {shortNumber(norms[term])}
                  <span className="bar" style={{ width: `${(100 * norms[term]) / highest}%` }} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p>{bucketSentence(update, least, most)}</p>
    </>
  );
}

/** How the regularizers' gradient compares with the task's where the spread is least, and where it is most. */
function bucketSentence(update: number, least: SpreadBucket, most: SpreadBucket): string {
  const shareOf = ({ norms }: SpreadBucket) => {
    const others = Math.max(norms.kl, norms.entropy);
    if (others === 0) return null;
    return norms.task === 0
      ? 'there is no task gradient'
      : `it is ${shortNumber(others / norms.task)} times the task’s`;
  };
  const [first, last] = [shareOf(least), shareOf(most)];
  if (first === null || last === null)
    return `Update ${update}: norms before clipping. KL and entropy are off in the loss.`;
  return `Update ${update}, norms before clipping. The larger gradient of KL and entropy: where rewards spread least, ${first}; where most, ${last}.`;
}
