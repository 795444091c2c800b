import type { RunConfig } from '../../config/fields.ts';
import { pushFormula } from '../../config/formula.ts';
import type { BatchView } from '../../domain/batch.ts';
import { signed } from '../parts/numberText.ts';
import { pushAt } from './push.ts';
import { passFormula, pushes } from './pushWords.ts';

/** How a token's push was computed: the formula, then this token's numbers for each epoch. */
export function PushFacts({
  batch,
  i,
  config,
}: {
  readonly batch: BatchView;
  readonly i: number;
  readonly config: Pick<RunConfig, 'epochs' | 'surrogate'>;
}) {
  const all = pushes(batch, i);
  const advantage = batch.advantages[i] ?? 0;
  if (all.every(({ push, clipped }) => push === 0 && !clipped)) return null;
  const known = all[0]?.pass !== 0;
  return (
    <div className="mono push-facts" data-testid="push">
      <p className="soft">Push: minus the gradient of the loss with respect to log π</p>
      <p>{pushFormula(config)}</p>
      <ol>
        {all.map((pass) => (
          <li key={pass.pass} data-clipped={pass.clipped}>
            {known ? `epoch ${pass.pass}: ` : 'last epoch: '}
            {passFormula(pass, advantage)}
          </li>
        ))}
      </ol>
      {all.length > 1 && <p>total {signed(pushAt(batch, i))}</p>}
      {known ? (
        all.length < config.epochs && (
          <p className="faint">
            {all.length} of {config.epochs} epochs are kept.
          </p>
        )
      ) : (
        <p className="faint">Only this batch’s last epoch was kept.</p>
      )}
    </div>
  );
}
