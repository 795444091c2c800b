import { useMemo, useState } from 'react';
import { GATE, gateSentences, passGate, rateText } from '../../domain/passGate.ts';
import type { Question } from '../../wire/questions.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { useAnswer } from '../../page/training/runAnswers.ts';
import { start } from '../../page/training/transport.ts';
import { useCostAccepted } from '../../page/view/acceptedCost.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { CostQuestion } from '../parts/CostQuestion.tsx';
import './passGate.css';

interface Asked {
  readonly run: number; // so that each run is asked, and again once its imitation is over
  readonly willImitate: boolean;
  readonly anyway: boolean;
}

const ask = ({ anyway }: Asked): Question => ({ kind: 'tries', ...GATE, anyway });

/** Plays tasks several times with the policy before RL, on a press, and says what RL can expect. Opens a run if there is none. */
export function PassGate() {
  const session = useLive((s) => s.session);
  const run = useLive((s) => s.run);
  const { groupSize, warmStart } = useConfig((s) => s.applied ?? s.wanted);
  const isEvaluated = useLive((s) => s.update > 0 || (s.session === 'ready' && s.metricsVersion > 0));
  const willImitate = (warmStart === 'train' || warmStart === 'continued') && !isEvaluated;
  const anyway = useCostAccepted('tries');
  const [isWanted, want] = useState(false);
  const canAsk = isWanted && session === 'ready';
  const subject = useMemo(() => (canAsk ? { run, willImitate, anyway } : null), [canAsk, run, willImitate, anyway]);
  const answered = useAnswer('tries', subject, ask);
  const reply = answered?.subject === subject ? answered.reply : undefined;
  const gate = reply?.ok ? passGate(reply.answer, groupSize) : null;
  return (
    <section className="card chart pass-gate stack small" aria-label="Pass at k before RL" data-testid="pass-gate">
      <p className="soft">How often is a task solved before {willImitate ? 'imitation' : 'RL'}?</p>
      {gate ? (
        <>
          <p>{gate.rates.map(rateText).join(' · ')}</p>
          {gateSentences(gate, groupSize).map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        </>
      ) : reply && !reply.ok ? (
        <CostQuestion kind="tries" reply={reply} />
      ) : isWanted ? (
        <p className="faint" aria-busy="true">
          Playing up to {GATE.tasks} tasks, {GATE.tries} times each…
        </p>
      ) : (
        <button
          type="button"
          onClick={() => {
            want(true);
            if (session === 'none') start(false);
          }}
        >
          Try {GATE.tasks} tasks {GATE.tries} times each
        </button>
      )}
    </section>
  );
}
