import { useEffect, useRef } from 'react';
import { languageOf, type EnvironmentFile } from '../../domain/environmentFile.ts';
import { faultsOf } from '../../domain/checkFindings.ts';
import type { Examination, Sample } from '../../written/examination.ts';
import { wholeNumber, signedReward } from '../../page/words/numberText.ts';
import { useEnvironment } from '../../page/environment/environmentStore.ts';
import { cancelCheck, check, CHECK_TASKS } from '../../page/environment/examine.ts';
import { isListedBelow, LineButton, Problems } from './ReadingLine.tsx';
import { CodeText } from '../parts/CodeText.tsx';
import type { CheckReport } from '../../written/checker.ts';
import type { Move } from '../../written/plays.ts';
import { RewardChip } from '../parts/RewardChip.tsx';
import { KINDS } from '../../page/rollout/kinds.ts';
import { SpanLabel } from '../parts/SpanLabel.tsx';
import type { Parameter, ValueSchema } from '../../text/toolSchema.ts';
import { MEMBERS } from '../../page/environment/members.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { choosePreset, useConfig } from '../../page/knobs/configStore.ts';
import { nextEnvironment, setEnvironment, start } from '../../page/training/engine.ts';

export function CheckPanel() {
  const examination = useEnvironment((s) => (s.check?.state === 'done' ? s.check.examination : null));
  const running = useEnvironment((s) => s.check?.state === 'running');
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    // the check may have been started from far above
    if (running) section.current?.scrollIntoView({ block: 'nearest' });
  }, [running]);
  return (
    <div className="environment-side stack gap-4 thin">
      <section ref={section} className="panel stack" aria-labelledby="check-title" data-testid="check">
        <CheckButtons />
        <CheckOutcome />
      </section>
      <ToolList />
      {examination?.problem === null && (
        <SampleEpisode sample={examination.sample} weights={examination.report.settings.weights} />
      )}
      <ClassMembers />
    </div>
  );
}

/** The buttons that run the file. Apart from them only an export runs it, after a check. */
function CheckButtons() {
  const running = useEnvironment((s) => s.check?.state === 'running');
  const isReadable = useEnvironment((s) => s.reading?.result.problem === null);
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
      <button type="button" className="primary" disabled={!isReadable} onClick={trainOnFile}>
        Train on it
      </button>
    </div>
  );
}

function trainOnFile(): void {
  const { name, text } = useEnvironment.getState().file;
  trainOnEnvironment({ name, text });
}

function CheckOutcome() {
  const check = useEnvironment((s) => s.check);
  const isPython = useEnvironment((s) => languageOf(s.file) === 'python');
  const isOutdated = useEnvironment((s) => s.check !== null && s.check.text !== s.file.text);
  if (check?.state === 'running') {
    return (
      <>
        <p className="soft">
          Playing {wholeNumber(CHECK_TASKS)} tasks with each of four players, then the random calls a second time …
        </p>
        <progress value={check.progress} max={1} aria-label="Check" />
      </>
    );
  }
  return (
    <div className="stack" role="status">
      {check === null && isPython && (
        <p className="soft" data-testid="python-note">
          <b>Check</b> and <b>Train on it</b> load Python (6 MB, once). It runs in a worker without network, storage or
          files, with Python’s standard library alone.
        </p>
      )}
      {check === null && (
        <p className="soft">
          The check plays {wholeNumber(CHECK_TASKS)} tasks in a sandbox: with the calls that your method{' '}
          <code translate="no">expert()</code> returns, with random valid calls and with broken calls. It lists each
          problem with its line number.
        </p>
      )}
      {check === null && (
        <p className="soft">
          Training first imitates a player that mostly follows <code translate="no">expert()</code>, until the agent
          solves nearly as many training tasks, or for some minutes. <i>Start RL now</i> in the lab ends this early.
        </p>
      )}
      {isOutdated && <p className="note">The file has changed since this check.</p>}
      {check?.state === 'ended' && <p className="note bad">The check didn’t finish. {check.reason}</p>}
      {check?.state === 'done' && check.exported && <ExportNote as={check.exported.zipName} />}
      {check?.state === 'done' && <CheckResult found={check.examination} isOutdated={isOutdated} />}
    </div>
  );
}

function ExportNote({ as: zipName }: { readonly as: string | null }) {
  return zipName === null ? (
    <p data-testid="exported">Nothing was exported. Fix what is wrong first.</p>
  ) : (
    <p data-testid="exported">
      Exported as <span className="mono">{zipName}</span>: unpack it, and read its README.
    </p>
  );
}

interface ResultProps {
  readonly found: Examination;
  readonly isOutdated: boolean; // the file has changed since
}

const BELOW_TEXT = 'See the notes below the editor.';

function CheckResult({ found: examination, isOutdated }: ResultProps) {
  const reading = useEnvironment((s) => s.reading?.result);
  if (examination.problem) {
    const problems = [examination.problem, ...examination.others];
    const unlisted = problems.filter((each) => !isListedBelow(reading, each));
    return (
      <>
        {unlisted.length < problems.length && <p className="note bad">This file can’t be played. {BELOW_TEXT}</p>}
        <Problems problems={unlisted} tone="bad" />
      </>
    );
  }
  const { report, untrained, stopped } = examination;
  const findings = report.findings.filter(({ text: what, line }) => !isListedBelow(reading, { what, line }));
  const faults = faultsOf(report).length;
  const tasks = report.settings.tasks;
  return (
    <>
      <p className={faults === 0 ? 'note good' : 'note bad'} data-testid="verdict" data-faults={faults}>
        {isOutdated && 'Before the change: '}
        {faults === 0 ? 'No faults.' : faults === 1 ? 'One fault.' : `${faults} faults.`}
        {stopped && ' Only the first tasks were played.'}
        {findings.length < report.findings.length && ` ${BELOW_TEXT}`}
      </p>
      <ul className="check-findings stack" aria-label="What was found">
        {findings.map(({ kind, text, line, episodes }) => (
          <li key={`${line} ${text}`} data-kind={kind}>
            <span className={kind === 'fault' ? 'chip reward' : 'chip warn'} data-taken={kind === 'fault'}>
              {kind}
            </span>{' '}
            {line !== null && <LineButton line={line} />} <CodeText>{text}</CodeText>
            {episodes > 1 && <span className="faint"> {wholeNumber(episodes)} times.</span>}
          </li>
        ))}
      </ul>
      {!report.broken && <Scores report={{ ...report, untrained }} />}
      {!report.broken && scoreRemarks({ ...report, untrained }).map((remark) => <p key={remark}>{remark}</p>)}
      <details className="deeper about-check">
        <summary>About these numbers</summary>
        <p>
          The expert has to earn more than chance. If nothing beats chance, something is wrong with the reward. Chance
          should earn something now and then, because RL can only strengthen calls that already work sometimes. If
          nonsense earns something, the agent may learn nonsense.
        </p>
        <p>
          The check played {wholeNumber(report.tasks)} tasks, {wholeNumber(report.differentTasks)} of them different, in{' '}
          {wholeNumber(report.episodes)} episodes with {wholeNumber(report.turns)} turns. The class has{' '}
          {wholeNumber(tasks.train)} tasks for training and {wholeNumber(tasks.test)} for evaluation, with at most{' '}
          {report.settings.maxTurns} turns each. The longest prompt has {wholeNumber(report.longestPrompt)} characters,
          and the longest tool answer has {wholeNumber(report.longestReply)}. The random player’s calls were played a
          second time, to see that the same calls give the same episode.
        </p>
      </details>
    </>
  );
}

const SHOWN_REWARD = 0.005; // smaller mean rewards are shown as 0.00

/**
 * What the scores of the random and of the broken calls mean for training, where it isn't as it should be. Nothing is
 * said of random calls if a model before training earns something.
 */
export function scoreRemarks({ chance, expert, nonsense, untrained }: MeanRewards): readonly string[] {
  const remarks: string[] = [];
  if (expert !== null && expert > SHOWN_REWARD && Math.abs(chance) < SHOWN_REWARD && (untrained ?? 0) < SHOWN_REWARD)
    remarks.push(
      `Random calls earn ${chance === 0 ? 'nothing' : 'almost nothing'}${untrained === null ? '' : ', and so does a model before training'}. RL can’t start from them, so imitate until the agent makes some calls right.`,
    );
  if (nonsense > SHOWN_REWARD)
    remarks.push(
      `Broken calls earn ${nonsense.toFixed(2)}. Is part of the reward paid without a valid call? (A call that takes only choices or booleans is valid even here.)`,
    );
  return remarks;
}

const PLAYERS = [
  { player: 'expert', doc: 'your expert' },
  { player: 'chance', doc: 'random calls' },
  { player: 'untrained', doc: 'a model before training' },
  { player: 'nonsense', doc: 'broken calls' },
] as const;

type MeanRewards = Pick<CheckReport, 'expert' | 'chance' | 'nonsense'> & { readonly untrained: number | null };

function Scores({ report }: { readonly report: MeanRewards }) {
  const maxReward = Math.max(1, ...PLAYERS.map(({ player }) => report[player] ?? 0));
  return (
    <table className="scores">
      <caption>
        Reward <span className="faint">mean per player</span>
      </caption>
      <tbody>
        {PLAYERS.map(({ player, doc }) => {
          const meanReward = report[player];
          if (meanReward === null) return null; // the class has no such player, or it did not play
          return (
            <tr key={player} data-player={player}>
              <th scope="row">
                {player} <span className="faint">{doc}</span>
              </th>
              <td aria-hidden="true">
                <span className="score-bar">
                  <span style={{ width: `${(Math.max(0, meanReward) / maxReward) * 100}%` }} />
                </span>
              </td>
              <td className="number">{meanReward.toFixed(2)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

interface Props {
  readonly sample: Sample;
  /** Weight of each part of the reward, by name; 1 if it has none. */
  readonly weights: Readonly<Record<string, number>>;
}

/** The first training task, turn by turn. The expert plays it, or the random player if the class has no expert. */
function SampleEpisode({ sample: { by, play, reward }, weights }: Props) {
  return (
    <section className="panel stack" aria-labelledby="sample-title" data-testid="sample">
      <h2 id="sample-title">The first task, played {by === 'expert' ? 'by the expert' : 'with random calls'}</h2>
      <ol className="sample-turns">
        <EpisodeText kind="prompt" text={play.prompt} />
        {play.moves.map((move, turn) => {
          const reply = play.replies[turn];
          return (
            <li key={turn}>
              <ol>
                <EpisodeText kind={'answer' in move ? 'answer' : 'call'} text={callText(move)} />
                {reply && !('answer' in move) && (
                  <EpisodeText kind="observation" text={reply.text ?? reply.refused ?? ''} />
                )}
              </ol>
            </li>
          );
        })}
      </ol>
      {play.problems.map(({ text, line }) => (
        <p key={text} className="note bad">
          {line !== null && <LineButton line={line} />} <CodeText>{text}</CodeText>
        </p>
      ))}
      {play.parts !== null && reward !== null && (
        <p className="row small">
          Reward <b>{reward.toFixed(2)}</b>
          {Object.entries(play.parts).map(([part, amount]) => (
            <RewardChip key={part} amount={Number(amount)}>
              {part} {signedReward(Number(amount))}
              {Object.hasOwn(weights, part) && weights[part] !== 1 && ` × ${weights[part]}`}
            </RewardChip>
          ))}
        </p>
      )}
    </section>
  );
}

interface EpisodeTextProps {
  readonly kind: 'prompt' | 'call' | 'observation' | 'answer';
  readonly text: string;
}

function EpisodeText({ kind, text }: EpisodeTextProps) {
  return (
    <li className="episode-turn grid breaks" data-kind={kind}>
      <SpanLabel kindStyle={KINDS[kind]} />
      <span className="mono">{text}</span>
    </li>
  );
}

const callText = (move: Move): string =>
  'answer' in move
    ? move.answer
    : `${move.tool}(${Object.values(move.values)
        .map((value) => JSON.stringify(value))
        .join(', ')})`;

/** The descriptions of the task and its tools, from the comments in the file. Renders nothing if the file can't be read. */
function ToolList() {
  const declared = useEnvironment((s) => (s.reading?.result.problem === null ? s.reading.result.declared : null));
  const isPython = useEnvironment((s) => languageOf(s.file) === 'python');
  if (!declared) return null;
  const { description, tools } = declared;
  return (
    <section className="panel stack" aria-labelledby="tools-title" data-testid="tools">
      <h2 id="tools-title">Task and tools</h2>
      {description === '' ? (
        <p className="faint">
          {isPython ? 'Write a docstring in the class' : 'Write a comment before the class'} to describe the task.
        </p>
      ) : (
        <p>{description}</p>
      )}
      {tools.map(({ name, description: toolDescription, parameters }) => (
        <div key={name} className="tool">
          <p className="mono">
            <b>{name}</b>({parameters.map(signature).join(', ')})
          </p>
          {toolDescription !== '' && <p className="soft">{toolDescription}</p>}
          {parameters.map((parameter) =>
            typeof parameter !== 'string' && parameter.description !== undefined ? (
              <p key={parameter.name} className="faint">
                <span className="mono">{parameter.name}</span>: {parameter.description}
              </p>
            ) : null,
          )}
        </div>
      ))}
    </section>
  );
}

function signature(parameter: Parameter): string {
  if (typeof parameter === 'string') return parameter;
  return `${parameter.name}${parameter.optional ? '?' : ''}: ${valuesText(parameter)}`;
}

function valuesText({ type, enum: choices, items, anyOf, nullable }: ValueSchema): string {
  const types = type === undefined ? ['any'] : [type].flat();
  const texts =
    choices?.map((choice) => JSON.stringify(choice)) ??
    anyOf?.map(valuesText) ??
    types.map((each) => (each === 'array' && items ? `list of ${valuesText(items)}` : each));
  return [...texts, ...(nullable ? ['null'] : [])].join(' | ');
}

function ClassMembers() {
  const isPython = useEnvironment((s) => languageOf(s.file) === 'python');
  return (
    <details className="panel class-members" data-testid="class-members">
      <summary>
        <b>Everything the class can define</b>
      </summary>
      <dl className="small">
        {MEMBERS.map(({ label, pythonName: memberInPython, doc }) => (
          <div key={label}>
            <dt className="mono">{label === 'tool' ? 'any other method' : isPython ? memberInPython : label}</dt>
            <dd className="soft">
              <CodeText>{doc}</CodeText>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

/**
 * Begins a fresh run in the lab on a person's environment: with the knobs that the page shows if it is the file that was
 * trained on last, otherwise with default knobs. This runs the file, so only a button that says so may call it.
 */
function trainOnEnvironment(file: EnvironmentFile): void {
  const isSameFile = nextEnvironment()?.name === file.name && useConfig.getState().wanted.env === YOUR_ENVIRONMENT;
  setEnvironment(file);
  if (!isSameFile) choosePreset(YOUR_ENVIRONMENT);
  start(true);
  location.assign('#/lab');
}
