import type { ModelCard } from '../../domain/modelCard.ts';
import { bytes, count, whole } from '../parts/numberText.ts';
import { Memory } from './Memory.tsx';
import { useModels } from './modelStore.ts';
import { formatsInWords, templateInWords, weightsInWords } from './modelText.ts';

/** What a checkpoint is, what opening it takes, and the button that does. */
export function ModelCardPanel({ card }: { readonly card: ModelCard }) {
  const opened = useModels((s) => s.opened?.card === card);
  const size = card.files.reduce((sum, file) => sum + file.bytes, 0);
  const facts: readonly (readonly [string, string])[] = [
    ...(card.name && card.name !== card.title ? [['Calls itself', card.name] as const] : []),
    ['Licence', card.license ?? 'the files do not say'],
    ['Parameters', count(card.parameters)],
    [
      'Architecture',
      `${card.architecture}: ${card.layers} layers of ${card.width}, ${card.heads} heads, ${card.kvHeads} of keys and values`,
    ],
    ['Weights', `${weightsInWords(card)} (${formatsInWords(card)})`],
    ['Tokenizer', `${card.tokenizer}, ${whole(card.tokens)} tokens`],
    ['Context', card.context === null ? 'the files do not say' : `${whole(card.context)} tokens`],
    ['Chat template', templateInWords(card)],
    [
      'From',
      `${card.files.length === 1 ? (card.files[0]?.name ?? '') : `${card.files.length} files`}, ${bytes(size)}${card.origin ? ` · ${card.origin}` : ''}`,
    ],
  ];
  return (
    <section className="panel stack model-card" aria-label="Model card">
      <details open={!opened} key={String(opened)}>
        <summary>
          <h3>{card.title}</h3>
          <span className="soft small">
            {count(card.parameters)} parameters · {weightsInWords(card)}
          </span>
        </summary>
        <dl>
          {facts.map(([term, words]) => (
            <div key={term}>
              <dt className="faint">{term}</dt>
              <dd>{words}</dd>
            </div>
          ))}
        </dl>
        {card.remarks.map((remark) => (
          <p key={remark} className="soft small">
            {remark}
          </p>
        ))}
      </details>
      <Memory card={card} />
    </section>
  );
}
