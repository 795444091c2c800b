import { PRESETS } from '../../config/presets.ts';
import { FIELDS } from '../../config/fields.ts';
import { ENGINES } from '../../config/mappedKnob.ts';
import { COUNTERPARTS, counterpartText } from '../../handover/mapping.ts';
import { hashOf } from '../../page/address/hash.ts';
import { presetConfig, useConfig } from '../../page/knobs/configStore.ts';
import { type Answer, type PageLink, RECORDED_SEEDS, type Trial } from '../../page/learn/answer.ts';
import { tryIt, useTrials } from '../../page/learn/answerRun.ts';
import { say } from '../../page/learn/catalogue.ts';
import type { Finding } from '../../page/learn/exercise.ts';
import { keyOf } from '../../page/learn/exerciseResult.ts';
import { useExerciseRun } from '../../page/learn/exerciseRun.ts';
import { END_VALUES } from '../../page/learn/findings.ts';
import { fill } from '../../page/learn/fill.ts';
import { answerHash } from '../../page/learn/learnAddress.ts';
import { RECORDED } from '../../page/learn/recordedAnswers.ts';
import { counted } from '../../page/words/numberText.ts';
import { Icon } from '../parts/Icon.tsx';
import { CopyLink } from './CopyLink.tsx';
import { Failure, RunProgress } from './ExercisePanel.tsx';
import { PassGate } from '../run/PassGate.tsx';
import { GroupCalculator } from './GroupCalculator.tsx';

const ENGINE_NAMES = { verl: 'verl', trl: 'TRL' } as const;

export function AnswerPanel({ answer }: { readonly answer: Answer }) {
  const { id, question, text, trials, knobs, limits, threads, links = [] } = answer;
  return (
    <article className="stack large chapter" aria-labelledby="answer-title" data-testid="answer">
      <div className="row between">
        <h3 id="answer-title" className="fill thin">
          {question}
        </h3>
        <CopyLink hash={answerHash(id)} label={say('answerLink')} />
      </div>
      {text.map((paragraph) => (
        <p key={paragraph}>{paragraph}</p>
      ))}
      {answer.hasCalculator && <GroupCalculator />}
      {trials.map((trial) => (
        <TrialCard key={trial.id} answer={answer} trial={trial} />
      ))}
      {answer.hasPassGate && (
        <>
          <p>Try it with the run in the lab, such as the one of the button that you pressed:</p>
          <PassGate />
        </>
      )}
      <section className="stack" aria-labelledby="answer-knobs">
        <h4 id="answer-knobs">The knobs that matter</h4>
        <dl className="small answer-knobs">
          {knobs.map((knob) => (
            <div key={knob}>
              <dt>{FIELDS[knob].label}</dt>
              {ENGINES.map((engine) => (
                <dd key={engine}>
                  {ENGINE_NAMES[engine]}: {counterpartText(COUNTERPARTS[knob][engine])}
                </dd>
              ))}
            </div>
          ))}
        </dl>
      </section>
      <p>
        <b>Limits.</b> {limits}
      </p>
      {links.length > 0 && <Links title="More on this page" links={links} />}
      <Links title="Asked in" links={threads.map(linkOf)} />
    </article>
  );
}

/** `huggingface/trl#3452` as trl#3452; the address leads to pull requests, too. */
const linkOf = (thread: Answer['threads'][number]): PageLink => ({
  label: thread.slice(thread.indexOf('/') + 1),
  href: `https://github.com/${thread.replace('#', '/issues/')}`,
});

function Links({ title, links }: { readonly title: string; readonly links: readonly PageLink[] }) {
  return (
    <p className="small">
      {title}:{' '}
      {links.map(({ label, href }, i) => (
        <span key={href}>
          {i > 0 && ', '}
          <a href={href} {...(href.startsWith('#') ? {} : { target: '_blank', rel: 'noopener' })}>
            {label}
          </a>
        </span>
      ))}
    </p>
  );
}

/** A button that trains the trial, and what was seen: here, or before that in the recorded runs. */
function TrialCard({ answer, trial }: { readonly answer: Answer; readonly trial: Trial }) {
  const key = keyOf(answer.id, trial.id);
  const seen = useTrials((s) => s[key]);
  const running = useExerciseRun((s) => s.running && s.key === key);
  const failed = useExerciseRun((s) => s.key === key && s.failure !== null);
  const busy = useExerciseRun((s) => s.running);
  const seed = useConfig((s) => s.wanted.seed);
  const [{ preset, set, updates }] = trial.arms;
  const [first, ...others] = RECORDED[key] ?? [];
  const shown = seen ?? first;
  return (
    <section
      className="stack card exercise"
      aria-label={trial.button}
      data-testid={`trial-${trial.id}`}
      data-shown={seen && (seen.answer ?? 'unclear')}
    >
      {running ? (
        <RunProgress exercise={trial} />
      ) : (
        <button type="button" className="primary" disabled={busy} onClick={() => void tryIt(answer, trial)}>
          <Icon name="play" /> {trial.button}
        </button>
      )}
      <div className="stack" role="status">
        {shown && <p className="strong">{sentenceOf(trial, shown)}</p>}
        <p className="small faint">
          {seen
            ? `Measured here: seed ${seen.seed}, ${seen.backend.toUpperCase()}, ${counted(updates, 'update')} of ${PRESETS[preset].label}.`
            : `Recorded: seed ${RECORDED_SEEDS[0]}, CPU, ${counted(updates, 'update')} of ${PRESETS[preset].label}. Press to measure it here, with seed ${seed}.`}
          {updates > END_VALUES &&
            ` “From … to …” compares means of the first and last ${END_VALUES} values of a curve.`}
        </p>
      </div>
      {failed && <Failure />}
      <details className="small">
        <summary>Other seeds and settings</summary>
        <ul className="stack">
          {others.map((finding, i) => (
            <li key={RECORDED_SEEDS[i + 1]}>
              Seed {RECORDED_SEEDS[i + 1]}, recorded: {sentenceOf(trial, finding)}
            </li>
          ))}
        </ul>
        <a href={hashOf({ ...presetConfig(preset), ...set, updates }, { route: 'lab' })}>
          Open these settings in the lab
        </a>
      </details>
    </section>
  );
}

function sentenceOf({ seen }: Trial, { answer, numbers }: Finding): string {
  if (answer === null) return 'The run has no such numbers, so this can’t be told.';
  return `${answer === 'yes' ? '' : 'Not on this seed: '}${fill(seen, numbers)}`;
}
