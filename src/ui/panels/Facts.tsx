import { channelValue } from '../channels.ts';
import { useConfig } from '../config-store.ts';
import { useCurrent } from '../current.ts';
import { percent, short, signed } from '../format.ts';
import { KINDS } from '../kinds.ts';

/** What the run recorded of one token, and what the update did with it. */
export function Facts({ t }: { readonly t: number }) {
  const { batch, rollout } = useCurrent();
  const critic = useConfig((s) => (s.applied ?? s.wanted).critic !== 'none');
  const i = rollout.row * batch.length + t;
  const kind = rollout.kinds[t] ?? 'prompt';
  const inLoss = batch.lossMask[i] !== 0;
  const drawn = kind !== 'prompt' && kind !== 'observation';
  const logprob = drawn || inLoss ? batch.logprobs[i] : undefined;
  const gradient = channelValue(batch, 'gradient', i);
  const facts: readonly (readonly [label: string, value: string, hint: string])[] = [
    ['in the loss', inLoss ? 'yes' : 'no', 'Whether the token is in the policy loss.'],
    ['probability', logprob === undefined ? 'n/a' : percent(Math.exp(logprob)), 'Before the update.'],
    ['log-prob', short(logprob), 'Recomputed by the learner before the update.'],
    ['as sampled', drawn ? short(batch.sampledLogprobs[i]) : 'n/a', 'As the decoder drew it; must agree.'],
    ['entropy', short(drawn || inLoss ? batch.entropies[i] : undefined), 'In nats; 0 where only one token was legal.'],
    ['advantage', signed(channelValue(batch, 'advantage', i)), 'How much better than expected.'],
    ['gradient weight', signed(gradient), 'What multiplied ∇log π at the last pass.'],
    ['value', critic && drawn ? short(batch.values[i]) : 'n/a', 'The critic’s guess before the token.'],
    ['return', critic && drawn ? short(batch.returns[i]) : 'n/a', 'What the critic is taught.'],
    ['reward', drawn ? signed(batch.rewards[i]) : 'n/a', 'Paid at this token.'],
  ];
  return (
    <>
      <p className="inspected">
        <span className="token big" data-kind={kind} data-loss={inLoss} data-ramp="none">
          <span className="word">{rollout.words[t]}</span>
        </span>
        <span>
          {KINDS[kind].label} · turn {batch.turns[i]} · position {t}
        </span>
      </p>
      <p className="inspected-note">{push(gradient, inLoss, kind === 'observation')}</p>
      <dl className="facts">
        {facts.map(([label, value, hint]) => (
          <div key={label} title={hint}>
            <dt>{label}</dt>
            <dd data-na={value === 'n/a'}>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** What the update did to this token by its own term. Descent: a negative weight raises the log-probability. */
function push(gradient: number | undefined, inLoss: boolean, observation: boolean): string {
  if (!inLoss) {
    return observation
      ? 'The environment wrote this; no gradient flows through it.'
      : 'Not in the loss: no gradient flows through it.';
  }
  if (!gradient) return 'In the loss, but its own term pushed nothing: no advantage, or clipped.';
  return gradient < 0 ? '▲ Its own term pushed its probability up.' : '▼ Its own term pushed its probability down.';
}
