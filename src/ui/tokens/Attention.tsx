import { type CSSProperties, useMemo, useState } from 'react';
import type { AttentionView } from '../../domain/readings.ts';
import type { Question } from '../../wire/questions.ts';
import { useAnswer, useUpdateFinished } from '../../page/training/runAnswers.ts';
import { percent, wholeNumber } from '../../page/words/numberText.ts';
import { type RolloutSource, wordOf } from '../../page/training/inspect.ts';
import { useCostAccepted } from '../../page/view/acceptedCost.ts';
import { CostQuestion } from '../parts/CostQuestion.tsx';
import type { Kind } from '../../domain/tokens.ts';
import { KINDS } from '../../page/rollout/kinds.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { readRollout } from '../../page/rollout/readRollout.ts';
import './attention.css';

interface Subject extends RolloutSource {
  readonly t: number;
  readonly anyway: boolean;
}

const attentionQuestion = ({ batch, row, t, anyway }: Subject): Question => ({
  ...{ kind: 'attention', update: batch.update, row, position: t, anyway },
});

/** Attention of the policy when it drew a token: each head of a layer over the tokens before it, and the share of each kind of token. */
export function Attention({ source, t }: { readonly source: RolloutSource; readonly t: number }) {
  const learned = useUpdateFinished(source.batch.update);
  const anyway = useCostAccepted('attention');
  const subject = useMemo(() => (learned && t > 0 ? { ...source, t, anyway } : null), [learned, source, t, anyway]);
  const received = useAnswer('attention', subject, attentionQuestion);
  if (t === 0) return <p className="faint">The first token has nothing before it.</p>;
  if (!received) return <p className="faint waiting">Asking the run…</p>;
  if (!received.reply.ok) return <CostQuestion kind="attention" reply={received.reply} />;
  const { attention } = received.reply.answer;
  if (!attention) return <p className="faint">The weights of this update are no longer kept.</p>;
  return <AttentionTable attention={attention} subject={received.subject} />;
}

function AttentionTable({ attention, subject }: { readonly attention: AttentionView; readonly subject: Subject }) {
  const { layers, heads, count, weights } = attention;
  const [chosen, setChosen] = useState(layers - 1);
  const layer = Math.min(chosen, layers - 1);
  const { kinds } = readRollout(subject.batch, useLive.getState().vocabulary, subject.row);
  const mapOf = (head: number) => weights.subarray((layer * heads + head) * count, (layer * heads + head + 1) * count);
  const maps = Array.from({ length: heads }, (_, head) => mapOf(head));
  const listedTokens = useMemo(() => mostAttended(attention, layer), [attention, layer]);
  const word = (t: number) => wordOf(subject, subject.batch.tokens[subject.row * subject.batch.length + t] ?? 0);
  return (
    <div className="attention" data-testid="attention">
      <LayerChoice {...{ layers, layer }} choose={setChosen} />
      <table data-many={heads > MAX_WIDE_HEADS}>
        <thead>
          <tr>
            <th scope="col">token, by head</th>
            {maps.map((_, head) => (
              <th key={head} scope="col" title={`head ${head + 1}`}>
                {head + 1}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {listedTokens.map((t) => (
            <tr key={t}>
              <th scope="row" data-kind={kinds[t]} title={`token ${t}`}>
                <span className="word" translate="no">
                  {word(t)}
                </span>
              </th>
              {maps.map((map, head) => (
                <td
                  key={head}
                  data-weight={(map[t] ?? 0).toFixed(6)}
                  style={{ '--share': (map[t] ?? 0).toFixed(3) } as CSSProperties}
                >
                  {Math.round(100 * (map[t] ?? 0))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="faint">
        {listedTokens.length === count
          ? 'Per cent of each head’s attention; a column adds up to 100.'
          : `Per cent of each head’s attention: the ${listedTokens.length} of ${wholeNumber(count)} tokens with the most attention in this layer, in text order.`}
      </p>
      <AttentionByKind maps={maps} kinds={kinds} />
    </div>
  );
}

/** With more layers, a menu replaces the buttons. */
const MAX_LAYER_BUTTONS = 6;
/** With more heads, the columns of the table are narrow. */
const MAX_WIDE_HEADS = 4;
/** In a longer text, only the tokens with the most attention are listed. */
const MAX_LISTED_TOKENS = 48;

interface LayerChoiceProps {
  readonly layers: number;
  readonly layer: number;
  readonly choose: (layer: number) => void;
}

function LayerChoice({ layers, layer, choose }: LayerChoiceProps) {
  const all = Array.from({ length: layers }, (_, each) => each);
  if (layers > MAX_LAYER_BUTTONS) {
    return (
      <label className="row">
        Layer{' '}
        <select value={layer} onChange={({ target }) => choose(Number(target.value))}>
          {all.map((each) => (
            <option key={each} value={each}>
              {each + 1} of {layers}
            </option>
          ))}
        </select>
      </label>
    );
  }
  return (
    <div className="segments" role="group" aria-label="Layer">
      {all.map((each) => (
        <button key={each} type="button" aria-pressed={each === layer} onClick={() => choose(each)}>
          layer {each + 1}
        </button>
      ))}
    </div>
  );
}

/** Positions of all tokens; in a long text only those with the most attention from the layer's heads. In text order. */
function mostAttended({ heads, count, weights }: AttentionView, layer: number): readonly number[] {
  const all = Array.from({ length: count }, (_, t) => t);
  if (count <= MAX_LISTED_TOKENS) return all;
  const attentionSums = all.map((t) =>
    Array.from({ length: heads }, (_, head) => weights[(layer * heads + head) * count + t] ?? 0).reduce(
      (a, b) => a + b,
      0,
    ),
  );
  return all
    .sort((a, b) => attentionSums[b]! - attentionSums[a]!)
    .slice(0, MAX_LISTED_TOKENS)
    .sort((a, b) => a - b);
}

/** Share of a layer's attention on each kind of token, averaged over its heads. */
function AttentionByKind({
  maps,
  kinds,
}: {
  readonly maps: readonly Float32Array[];
  readonly kinds: readonly (Kind | null)[];
}) {
  const share = (kind: Kind) => {
    const sums = maps.map((map) => map.reduce((sum, w, t) => (kinds[t] === kind ? sum + w : sum), 0));
    return sums.reduce((a, b) => a + b, 0) / Math.max(1, sums.length);
  };
  return (
    <ul className="attention-shares" aria-label="Attention by who wrote the token">
      {(Object.keys(KINDS) as Kind[]).map((kind) => (
        <li key={kind} data-kind={kind} style={{ '--share': share(kind).toFixed(3) } as CSSProperties}>
          <span className="attention-kind">
            <b aria-hidden="true">{KINDS[kind].letter}</b> {KINDS[kind].label}
          </span>
          <span className="attention-bar" aria-hidden="true" />
          <span data-share={share(kind).toFixed(5)}>{percent(share(kind))}</span>
        </li>
      ))}
    </ul>
  );
}
