import { counted, shortNumber } from '../../page/words/numberText.ts';
import { useLive, type Session } from '../../page/view/liveStore.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { presetLabel } from '../../page/knobs/algorithm.ts';
import { useReplay } from '../../page/view/player.ts';
import { choosesSteps } from '../../config/imitationRecipe.ts';
import { useEffect, useMemo, useState } from 'react';
import { Role } from '../../domain/tokens.ts';
import type { Question } from '../../wire/questions.ts';
import type { Tries } from '../../domain/trainingEvent.ts';
import { useAnswer } from '../../page/training/runAnswers.ts';
import { SpanLabel } from '../parts/SpanLabel.tsx';
import { KINDS } from '../../page/rollout/kinds.ts';
import './demonstrations.css';

export function NoRollouts() {
  const session = useLive((s) => s.session);
  const busy = useLive((s) => s.running || s.stepping);
  const update = useLive((s) => s.update);
  const ownEnvironment = useLive((s) => s.ownEnvironment);
  const label = useConfig((s) => presetLabel(s.preset, ownEnvironment));
  const knobsDiffer = useReplay((s) => s.knobsDiffer);
  const loadFailed = useReplay((s) => s.loadFailed);
  const isImitating = useLive((s) => s.session === 'ready' && s.phase === 'imitating');
  if (isImitating) return <Demonstrations />;
  return (
    <p className="no-rollouts" role="status" data-testid="no-rollouts">
      {noRolloutsWords({ session, busy, update, knobsDiffer, loadFailed, label })}
    </p>
  );
}

interface NoRolloutsState {
  readonly session: Session;
  readonly busy: boolean; // training runs, or a step is under way
  readonly update: number; // updates that the run has done
  readonly knobsDiffer: boolean; // the knobs set another environment or model than the recorded run used
  readonly loadFailed: boolean; // the recording could not be loaded
  readonly label: string; // name of the preset or of the person's own environment
}

export function noRolloutsWords({ session, busy, update, knobsDiffer, loadFailed, label }: NoRolloutsState): string {
  if (session === 'starting') return `${label}: preparing the run. Its first rollouts follow.`;
  if (session === 'ready' && update > 0)
    return `Weights and curves are back (${counted(update, 'update')}). Rollouts aren’t saved: they reappear after the next update.`;
  if (session === 'ready' && busy) return 'Drawing the first rollouts of this run …';
  if (session === 'ready') return 'This run has no rollouts yet. Run training, or step one update.';
  if (session === 'failed') return 'The run ended before its first rollouts.';
  if (knobsDiffer) return `The recording shows another environment or model. Run training to see rollouts of ${label}.`;
  return loadFailed ? `Run training to see rollouts of ${label}.` : 'Loading the recorded run …';
}

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

function Demonstrations() {
  const total = useLive((s) => s.phaseTotal);
  const losses = useLive((s) => s.losses);
  const tries = useLive((s) => s.tries);
  const isExpert = useConfig((s) => s.applied?.demonstrator === 'expert');
  const isOpen = useConfig((s) => s.applied !== null && choosesSteps(s.applied));
  return (
    <>
      <p className="no-rollouts" role="status" data-testid="no-rollouts">
        {imitationWords({ total, losses, tries, isExpert, isOpen })}
      </p>
      <ShownDemonstrations isExpert={isExpert} />
    </>
  );
}

interface ImitationState {
  readonly total: number; // steps of the imitation
  readonly losses: readonly number[]; // of each step so far: −mean log π of the demonstrated tokens
  readonly tries: (Tries & { readonly step: number }) | null; // null: none yet
  readonly isExpert: boolean; // whether the imitated player is the expert
  readonly isOpen?: boolean; // the run has yet to choose its number of steps; `total` is the largest
}

export function imitationWords({ total, losses, tries, isExpert, isOpen = false }: ImitationState): string {
  const [first, last] = [losses[0], losses.at(-1)];
  const player = isExpert
    ? 'the expert'
    : 'a player that makes deliberate mistakes, so that RL has something to improve';
  const lossChange =
    first === undefined || last === undefined || losses.length === 1
      ? ''
      : ` Imitation loss: ${shortNumber(first)} at first, ${shortNumber(last)} in the last step.`;
  const end = isOpen
    ? `It goes on until the agent solves enough training tasks by itself, for at most ${total} steps. Its own rollouts follow.`
    : `Its own rollouts follow after step ${total}.`;
  return `It imitates ${player}. ${end}${lossChange}${tries ? triesWords(tries) : ''}`;
}

const triesWords = ({ solved, expert, played, step }: Tries & { readonly step: number }) =>
  ` After step ${step} it tried ${played} training tasks by itself, taking its likeliest words, and solved ${solved}.${expert > 0 ? ` The expert solves ${expert} of them.` : ''} RL can only strengthen what it gets right sometimes.`;

function ShownDemonstrations({ isExpert }: Pick<ImitationState, 'isExpert'>) {
  const step = useShownStep();
  const subject = useMemo(() => ({ step }), [step]);
  const received = useAnswer('demonstrations', subject, demonstrationsQuestion);
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
            <pre translate="no" className="demonstrated breaks soft small" data-learned={passage.role === Role.action}>
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
