import { useSubpath } from '../../page/address/route.ts';
import { ANSWERS, answerNamed } from '../../page/learn/answerList.ts';
import { AnswerPanel } from '../learn/AnswerPanel.tsx';
import '../learn/learn.css';

/** The answer that the address names, or the first. */
export function EmbeddedAnswer() {
  return <AnswerPanel answer={answerNamed(useSubpath()) ?? ANSWERS[0]} />;
}
