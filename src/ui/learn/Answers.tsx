import { useEffect } from 'react';
import { addressExcerpt } from '../../page/address/addressText.ts';
import { useSubpath } from '../../page/address/route.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import type { Answer } from '../../page/learn/answer.ts';
import { ANSWERS, answerNamed } from '../../page/learn/answerList.ts';
import { leaveChapter } from '../../page/learn/exerciseRun.ts';
import { answerHash } from '../../page/learn/learnAddress.ts';
import { useTitleParts } from '../../page/view/pageTitle.ts';
import { Header } from '../frame/Header.tsx';
import { StatusLine } from '../frame/StatusLine.tsx';
import { AnswerPanel } from './AnswerPanel.tsx';
import { LabBeside, LabReturn } from './LabBeside.tsx';
import './learn.css';

/** All questions, or the answer that the address names, with the lab beside. */
export function Answers() {
  const name = useSubpath();
  const answer = answerNamed(name);
  useTitleParts({ shown: answer?.question ?? '' });
  useEffect(() => leaveChapter, [name]);
  useEffect(() => {
    if (answer || name === '') return;
    const correction = `answer: ${addressExcerpt(name)} isn’t an answer. Choose one from the list.`;
    useConfig.setState((s) => ({ corrections: [...s.corrections, correction] }));
  }, [answer, name]);
  return (
    <>
      <Header />
      <main className="learn pane" data-pane="watch">
        {answer ? (
          <>
            <p className="small">
              <a href={answerHash()}>All answers</a>
            </p>
            <AnswerPanel key={answer.id} answer={answer} />
            <LabReturn />
          </>
        ) : (
          <Index />
        )}
      </main>
      <LabBeside metrics={answer && metricsOf(answer)} />
      <StatusLine />
    </>
  );
}

/** The metrics whose numbers an answer names. */
const metricsOf = ({ trials }: Answer) => [...new Set(trials.flatMap(({ metrics }) => metrics))];

function Index() {
  return (
    <section className="stack large chapter">
      <h2>Answers</h2>
      <p>
        These questions come up again and again in the issue threads of RL libraries. Each answer has a link of its own.
        It trains a small agent here, so that you can see the thing happen and then see it cured.
      </p>
      <ul className="stack answer-list">
        {ANSWERS.map(({ id, question }) => (
          <li key={id}>
            <a href={answerHash(id)}>{question}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}
