import { tokenAt } from '../../domain/textSpans.ts';
import { whole } from '../parts/numberText.ts';
import { type Choice, Distribution } from '../rollout/Distribution.tsx';
import { replaceToken, useModels } from './modelStore.ts';

/** What could have stood at the token that is looked at: the likeliest of the vocabulary, and all others as one bar. */
export function Likeliest() {
  const looked = useModels((s) => s.looked);
  const token = useModels((s) => (s.looked === null ? undefined : tokenAt(s.passages, s.looked)));
  const opened = useModels((s) => s.opened);
  const writing = useModels((s) => s.writing);
  if (looked === null || !token?.likely || !opened) {
    return (
      <p className="small faint models-looked">
        Press one of the model’s words to see what else it could have written.
      </p>
    );
  }
  const { likely, logprob, id, shown } = token;
  const listed = likely.map((each): Choice => {
    return { id: each.id, word: each.shown, p: Math.exp(each.logprob), drawn: each.id === id };
  });
  const own: Choice = { id, word: shown, p: logprob === null ? null : Math.exp(logprob), drawn: true };
  const choices = listed.some(({ drawn }) => drawn) ? listed : [...listed, own];
  return (
    <div className="card models-looked">
      <Distribution
        {...{ choices }}
        others={opened.card.vocabulary - choices.length}
        about="Probability of each token at temperature 1, in per cent."
        busy={writing}
        choose={(token) => replaceToken(looked, token)}
      />
      <p className="small faint">
        {likely.length} of {whole(opened.card.vocabulary)} tokens. Press one to put it there: the model continues from
        it.
      </p>
    </div>
  );
}
