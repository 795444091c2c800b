import { useEffect, useRef } from 'react';
import { useCurrent } from '../run/currentRollout.ts';
import { live } from '../run/liveStore.ts';
import { auditMask } from './readRollout.ts';
import { selectToken, useSelection } from '../shell/selectionStore.ts';
import { Facts } from './Facts.tsx';
import { Icon } from '../parts/Icon.tsx';
import { whole } from '../parts/numberText.ts';

const isPhone = () => matchMedia('(max-width: 860px)').matches;

/** All that is known of the selected token, and the audit of the masks. */
export function Inspector() {
  const chosen = useSelection((s) => s.token);
  const { batch, rollout } = useCurrent();
  const { length } = rollout.words;
  const token = chosen !== null && chosen < length ? chosen : null;
  // on a phone it opens over the page: what was chosen is not to lie under it
  useEffect(() => {
    if (token === null || !isPhone()) return;
    document.querySelector('.turns .token[aria-pressed="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [token]);
  const seen = useRef(batch.update);
  // of a batch that a step has brought it is another token: there it is in the way of what is new
  useEffect(() => {
    if (seen.current !== batch.update && !live.isExample && isPhone()) selectToken(null, null);
    seen.current = batch.update;
  }, [batch]);
  return (
    <section className="inspector panel" aria-label="Inspector" data-open={token !== null} data-testid="inspector">
      <div className="panel-head">
        <h2>Token</h2>
        {token !== null && (
          <button
            type="button"
            className="quiet icon-button small"
            aria-label="Close inspector"
            onClick={() => selectToken(null, null)}
          >
            <Icon name="cross" />
          </button>
        )}
      </div>
      {token === null ? <p className="empty">Choose a token to see what the update did to it.</p> : <Facts t={token} />}
      <Audit />
    </section>
  );
}

/** Counted on the tensors the trainer used, not derived from the switches. */
function Audit() {
  const { batch } = useCurrent();
  if (batch.rows === 0) return null; // nothing to count
  const { trained, observations, observationsTrained } = auditMask(batch);
  return (
    <div className="card audit" data-testid="audit">
      <h3>Mask audit · {live.isExample ? 'recording' : `update ${batch.update}`}</h3>
      <p>
        <b>{whole(trained)}</b> tokens in the loss
      </p>
      <p data-bad={observationsTrained > 0}>
        observation tokens in loss:{' '}
        <span className="one-line">
          <b>{whole(observationsTrained)}</b> of {whole(observations)} {observationsTrained === 0 ? '✓' : '▲'}
        </span>
      </p>
    </div>
  );
}
