import { useEffect, useRef } from 'react';
import { languageOf } from '../../domain/environmentFile.ts';
import { faultsOf } from '../../domain/checkFindings.ts';
import type { Examination } from '../../written/examination.ts';
import { whole } from '../parts/numberText.ts';
import { useEnvironment } from './environmentStore.ts';
import { ClassMembers } from './ClassMembers.tsx';
import { cancelCheck, check, TASKS_PLAYED } from './examine.ts';
import { LineButton, Problems } from './ReadingLine.tsx';
import { SampleEpisode } from './SampleEpisode.tsx';
import { Scores } from './Scores.tsx';
import { ToolList } from './ToolList.tsx';
import { trainOnEnvironment } from './trainOnEnvironment.ts';

/** The column beside the file: the check and what it found, the tools, and an episode. */
export function CheckPanel() {
  const found = useEnvironment((s) => (s.check?.state === 'done' ? s.check.found : null));
  const running = useEnvironment((s) => s.check?.state === 'running');
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (running) section.current?.scrollIntoView({ block: 'nearest' }); // it may have been asked for far above
  }, [running]);
  return (
    <div className="environment-side">
      <section ref={section} className="panel stack" aria-labelledby="check-title" data-testid="check">
        <Doors />
        <Outcome />
      </section>
      <ToolList />
      {found?.problem === null && <SampleEpisode sample={found.sample} weights={found.report.settled.weights} />}
      <ClassMembers />
    </div>
  );
}

/** The buttons that run the file. Nothing else on this screen runs it but an export, which checks it first. */
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
  const python = useEnvironment((s) => languageOf(s.file) === 'python');
  const stale = useEnvironment((s) => s.check !== null && s.check.text !== s.file.text);
  if (state?.state === 'running') {
    return (
      <>
        <p className="soft">
          Playing {whole(TASKS_PLAYED)} tasks with each of three players, then the random calls a second time …
        </p>
        <progress value={state.share} max={1} aria-label="Check" />
      </>
    );
  }
  return (
    <div className="stack" role="status">
      {state === null && python && (
        <p className="soft" data-testid="python-note">
          <b>Check</b> and <b>Train on it</b> load Python (6 MB, once). It runs in a worker without network, storage or
          files, with Python’s standard library alone.
        </p>
      )}
      {state === null && (
        <p className="soft">
          The check plays {whole(TASKS_PLAYED)} tasks in a sandbox: with your expert, with random calls and with
          nonsense calls. It lists the problems with their lines.
        </p>
      )}
      {stale && <p className="note">The file has changed since this check.</p>}
      {state?.state === 'ended' && <p className="note bad">The check didn’t finish. {state.why}</p>}
      {state?.state === 'done' && state.exported && <Exported as={state.exported.as} />}
      {state?.state === 'done' && <Found found={state.found} />}
    </div>
  );
}

function Exported({ as }: { readonly as: string | null }) {
  return as === null ? (
    <p data-testid="exported">Nothing was exported. Fix what is wrong first.</p>
  ) : (
    <p data-testid="exported">
      Exported as <span className="mono">{as}</span>: unpack it, and read its README.
    </p>
  );
}

function Found({ found }: { readonly found: Examination }) {
  if (found.problem) return <Problems of={[found.problem, ...found.others]} tone="bad" />;
  const { report, untrained, stopped } = found;
  const faults = faultsOf(report).length;
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
      {!report.broken && <Scores report={{ ...report, untrained }} />}
      <details className="deeper">
        <summary>About these numbers</summary>
        <p>
          The expert has to earn more than chance. If nothing beats chance, something is wrong with the reward. Chance
          should earn something now and then, because RL can only strengthen calls that already work sometimes. If
          nonsense earns something, the agent may learn nonsense.
        </p>
        <p>
          The check played {whole(report.episodes)} episodes with {whole(report.turns)} turns. The class has{' '}
          {whole(tasks.train)} tasks for training and {whole(tasks.test)} for evaluation, with at most{' '}
          {report.settled.maxTurns} turns each. The longest prompt has {whole(report.longestPrompt)} characters, and the
          longest tool answer has {whole(report.longestReply)}. The random player’s calls were played a second time, to
          see that the same calls give the same episode.
        </p>
      </details>
    </>
  );
}
