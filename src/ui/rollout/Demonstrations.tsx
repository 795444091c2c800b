import { useEffect, useMemo, useState } from 'react';
import { Role } from '../../domain/tokens.ts';
import type { Question } from '../../wire/questions.ts';
import { useAnswer } from '../run/runAnswers.ts';
import { useConfig } from '../knobs/configStore.ts';
import { useLive } from '../run/liveStore.ts';
import { SpanLabel } from './SpanLabel.tsx';
import { KINDS } from './kinds.ts';
import '../styles/demonstrations.css';

const SHOWN_MS = 2000;
const MISTAKES_NOTE = 'This player makes deliberate mistakes, so RL has something to improve.';
const EXPERT_NOTE = 'This player is the expert.';

const demonstrationsQuestion = (): Question => ({ kind: 'demonstrations' });

/** The current step of imitation, but a new one at most every two seconds, so that each can be read. */
function useShownStep(): number {
  const [step, setStep] = useState(() => Math.floor(useLive.getState().phaseDone));
  useEffect(() => {
    const timer = setInterval(() => setStep(Math.floor(useLive.getState().phaseDone)), SHOWN_MS);
    return () => clearInterval(timer);
  }, []);
  return step;
}

/** Shows the demonstrations that the current imitation step trains on, one at a time; nothing after the imitation. */
export function Demonstrations() {
  const step = useShownStep();
  const subject = useMemo(() => ({ step }), [step]);
  const received = useAnswer('demonstrations', subject, demonstrationsQuestion);
  const isExpert = useConfig((s) => s.applied?.demonstrator === 'expert');
  const [chosen, setChosen] = useState(0);
  const shown = received?.reply.ok ? received.reply.answer.shown : null;
  if (!shown) return null;
  const { episodes } = shown;
  const shownIndex = Math.min(chosen, episodes.length - 1);
  return (
    <section className="card demonstrations" aria-label="What it imitates" data-testid="demonstrations">
      <div className="row between">
        <h3>
          What it imitates{' '}
          <span className="chip">
            step {shown.step} of {shown.total}
          </span>
        </h3>
        <span className="segments" role="group" aria-label="Demonstration">
          {episodes.map((_, each) => (
            <button key={each} type="button" aria-pressed={each === shownIndex} onClick={() => setChosen(each)}>
              {each + 1}
            </button>
          ))}
        </span>
      </div>
      <ol>
        {episodes[shownIndex]?.map((passage, i) => (
          <li key={i} data-kind={passage.kind}>
            <SpanLabel kindStyle={KINDS[passage.kind]} />
            <pre className="demonstrated" data-learned={passage.role === Role.action}>
              {passage.text}
            </pre>
          </li>
        ))}
      </ol>
      <p className="small faint">
        Imitation trains on calls and answers; observations are only read. {isExpert ? EXPERT_NOTE : MISTAKES_NOTE}
      </p>
    </section>
  );
}
