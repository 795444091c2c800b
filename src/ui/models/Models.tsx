import { Header } from '../frame/Header.tsx';
import { StatusLine } from '../frame/StatusLine.tsx';
import { Catalogue } from './Catalogue.tsx';
import { Chat } from './Chat.tsx';
import { useModels, replaceToken } from '../../page/models/modelStore.ts';
import { ModelPicker, SmallModelPicker, OpeningMessages } from './ModelPicker.tsx';
import type { ModelCard } from '../../domain/modelCard.ts';
import { bytes, count, wholeNumber } from '../../page/words/numberText.ts';
import { TermList } from '../parts/TermList.tsx';
import { Memory } from './Memory.tsx';
import { formatsInWords, templateInWords, weightsInWords } from '../../page/models/modelText.ts';
import { tokenAt } from '../../page/models/passageTokens.ts';
import { type Alternative, Distribution } from '../tokens/Distribution.tsx';
import { useAddress } from '../../page/view/address.ts';
import { NoTemplate } from './TrainingPanel.tsx';
import './models.css';

export function Models() {
  const card = useModels((s) => s.card);
  const opened = useModels((s) => s.opened !== null);
  return (
    <>
      <Header />
      <main className="models screen pane" data-pane="watch" data-open={opened} data-card={card !== null}>
        <h2 className="visually-hidden">Models</h2>
        {card ? (
          <>
            <div className="models-side col gap-4 low scrolls">
              <SmallModelPicker />
              <OpeningMessages />
              <ModelCardPanel card={card} />
              <TrainLink card={card} />
            </div>
            {opened && <Chat />}
            {opened && <Alternatives />}
          </>
        ) : (
          <div className="models-welcome">
            <ModelPicker>
              <OpeningMessages />
            </ModelPicker>
            <Catalogue />
          </div>
        )}
      </main>
      <StatusLine />
    </>
  );
}

function ModelCardPanel({ card }: { readonly card: ModelCard }) {
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
    ['Tokenizer', `${card.tokenizer}, ${wholeNumber(card.tokens)} tokens`],
    ['Context', card.context === null ? 'the files do not say' : `${wholeNumber(card.context)} tokens`],
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
        <TermList terms={facts} />
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

/** The most likely tokens in place of the selected one, and all other tokens as one bar. */
function Alternatives() {
  const selected = useModels((s) => s.selectedToken);
  const token = useModels((s) => (s.selectedToken === null ? undefined : tokenAt(s.passages, s.selectedToken)));
  const opened = useModels((s) => s.opened);
  const writing = useModels((s) => s.writing);
  if (selected === null || !token?.likely || !opened) {
    return (
      <p className="small faint models-looked">
        Press one of the model’s words to see what else it could have written.
      </p>
    );
  }
  const { likely, logprob, id, shown } = token;
  const listed = likely.map((each): Alternative => {
    return { id: each.id, word: each.shown, probability: Math.exp(each.logprob), isDrawn: each.id === id };
  });
  const drawnAlternative: Alternative = {
    id,
    word: shown,
    probability: logprob === null ? null : Math.exp(logprob),
    isDrawn: true,
  };
  const alternatives = listed.some(({ isDrawn }) => isDrawn) ? listed : [...listed, drawnAlternative];
  return (
    <div className="card models-looked">
      <Distribution
        {...{ alternatives }}
        unlistedCount={opened.card.vocabulary - alternatives.length}
        barsExplanation="Probability of each token at temperature 1, in per cent."
        disabled={writing}
        choose={(token) => replaceToken(selected, token)}
      />
      <p className="small faint">
        {likely.length} of {wholeNumber(opened.card.vocabulary)} tokens. Press one to put it there: the model continues
        from it.
      </p>
    </div>
  );
}

function TrainLink({ card }: { readonly card: ModelCard }) {
  const address = useAddress();
  if (card.template === 'none') return <NoTemplate />;
  return (
    <section className="panel stack" aria-labelledby="train-door">
      <h3 id="train-door">Train it</h3>
      <p className="small soft">
        Teach it a task with a tool. This trains small added weights (LoRA adapters), not the model’s own.
      </p>
      <a className="button" href={address('train')}>
        Choose a task
      </a>
    </section>
  );
}
