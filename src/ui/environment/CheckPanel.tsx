import type { Examination } from '../../written/examination.ts';
import { whole } from '../parts/numberText.ts';
import { useEnvironment } from './environmentStore.ts';
import { cancelCheck, check, TASKS_PLAYED } from './examine.ts';
import { LineButton } from './ReadingLine.tsx';
import { SampleEpisode } from './SampleEpisode.tsx';
import { Scores } from './Scores.tsx';
import { ToolList } from './ToolList.tsx';
import { trainOnEnvironment } from './trainOnEnvironment.ts';

/** The column beside the file: the check and what it found, the tools, and an episode. */
export function CheckPanel() {
  const found = useEnvironment((s) => (s.check?.state === 'done' ? s.check.found : null));
  return (
    <div className="environment-side">
      <section className="panel stack" aria-labelledby="check-title" data-testid="check">
        <Doors />
        <Outcome />
      </section>
      <ToolList />
      {found?.problem === null && <SampleEpisode sample={found.sample} />}
    </div>
  );
}

/** The presses that run it. Nothing else on this screen does. */
function Doors() {
  const running = useEnvironment((s) => s.check?.state === 'running');
  const readable = useEnvironment((s) => s.reading?.found.problem === null);
  return (
    <div className="panel-head">
      <h2 id="check-title">Try it</h2>
      {running ? (
        <button type="button" className="end" onClick={cancelCheck}>
          Cancel
        </button>
      ) : (
        <button type="button" className="end" onClick={check}>
          Check
        </button>
      )}
      <button type="button" className="primary" disabled={!readable} onClick={train}>
        Train on it
      </button>
    </div>
  );
}

function train(): void {
  const { name, text } = useEnvironment.getState().file;
  trainOnEnvironment({ name, text });
}

function Outcome() {
  const state = useEnvironment((s) => s.check);
  const stale = useEnvironment((s) => s.check !== null && s.check.text !== s.file.text);
  if (state?.state === 'running') {
    return (
      <>
        <p className="soft">Playing {whole(TASKS_PLAYED)} tasks four times …</p>
        <progress value={state.share} max={1} aria-label="Check" />
      </>
    );
  }
  return (
    <div className="stack" role="status">
      {state === null && (
        <p className="soft">
          Plays {whole(TASKS_PLAYED)} tasks in a sandbox, as your expert, at random and with nonsense. Says what is
          wrong and in which line.
        </p>
      )}
      {state?.state === 'ended' && <p className="note bad">The check did not end. {state.why}</p>}
      {state?.state === 'done' && <Found found={state.found} />}
      {stale && <p className="faint">The file has changed since then.</p>}
    </div>
  );
}

function Found({ found }: { readonly found: Examination }) {
  if (found.problem) {
    const { says, line } = found.problem;
    return (
      <p className="note bad">
        {line !== null && <LineButton line={line} />} {says}
      </p>
    );
  }
  const { report, stopped } = found;
  const faults = report.findings.filter(({ kind }) => kind === 'fault').length;
  const tasks = report.settled.tasks;
  return (
    <>
      <p className={faults === 0 ? 'note good' : 'note bad'} data-testid="verdict" data-faults={faults}>
        {faults === 0 ? 'No faults.' : faults === 1 ? 'One fault.' : `${faults} faults.`}
        {stopped && ' Only the first tasks were played.'}
      </p>
      <ul className="check-findings stack" aria-label="What was found">
        {report.findings.map(({ kind, text, line, episodes }) => (
          <li key={`${line} ${text}`} data-kind={kind}>
            <span className={kind === 'fault' ? 'chip reward' : 'chip warn'} data-taken={kind === 'fault'}>
              {kind}
            </span>{' '}
            {line !== null && <LineButton line={line} />} {text}
            {episodes > 1 && <span className="faint"> {whole(episodes)} times.</span>}
          </li>
        ))}
      </ul>
      {!report.broken && <Scores report={report} />}
      <details className="deeper">
        <summary>What the numbers say</summary>
        <p>
          The expert has to earn more than chance: if nothing beats chance, something is wrong with the reward. Chance
          has to earn something now and then, because training starts from what works by luck. If nonsense earns
          something, the agent will learn nonsense.
        </p>
        <p>
          {whole(report.episodes)} episodes, {whole(report.turns)} turns. The class has {whole(tasks.train)} tasks for
          training and {whole(tasks.test)} for evaluation, at most {report.settled.maxTurns} turns each. The longest
          prompt has {whole(report.longestPrompt)} characters, the longest answer of a tool {whole(report.longestReply)}
          . The random player’s episodes were played a second time, to see that the same calls give the same episode.
        </p>
      </details>
    </>
  );
}
