import { useEffect, useRef } from 'react';
import { languageOf, type EnvironmentFile } from '../../domain/environmentFile.ts';
import { faultsOf } from '../../domain/checkFindings.ts';
import type { Examination, Sample } from '../../written/examination.ts';
import { whole, signed } from '../parts/numberText.ts';
import { useEnvironment } from './environmentStore.ts';
import { cancelCheck, check, TASKS_PLAYED } from './examine.ts';
import { LineButton, Problems } from './ReadingLine.tsx';
import type { CheckReport } from '../../written/checker.ts';
import type { Move } from '../../written/plays.ts';
import { RewardChip } from '../parts/RewardChip.tsx';
import { KINDS } from '../rollout/kinds.ts';
import { SpanLabel } from '../rollout/SpanLabel.tsx';
import type { Parameter } from '../../text/toolSchema.ts';
import { MEMBERS } from './members.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { choosePreset } from '../knobs/configStore.ts';
import { setEnvironment, start } from '../run/engine.ts';

/** The column beside the file: the check and what it found, the tools, and an episode. */
export function CheckPanel() {
  const found = useEnvironment((s) => (s.check?.state === 'done' ? s.check.found : null));
  const running = useEnvironment((s) => s.check?.state === 'running');
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    // the check may have been started from far above
    if (running) section.current?.scrollIntoView({ block: 'nearest' });
  }, [running]);
  return (
    <div className="environment-side">
      <section ref={section} className="panel stack" aria-labelledby="check-title" data-testid="check">
        <CheckButtons />
        <Outcome />
      </section>
      <ToolList />
      {found?.problem === null && <SampleEpisode sample={found.sample} weights={found.report.settled.weights} />}
      <ClassMembers />
    </div>
  );
}

/** The buttons that run the file. Apart from them only an export runs it, after a check. */
function CheckButtons() {
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
          The check plays {whole(TASKS_PLAYED)} tasks in a sandbox: with the calls that your method{' '}
          <code>expert()</code> returns, with random valid calls and with broken calls. It lists each problem with its
          line number.
        </p>
      )}
      {stale && <p className="note">The file has changed since this check.</p>}
      {state?.state === 'ended' && <p className="note bad">The check didn’t finish. {state.why}</p>}
      {state?.state === 'done' && state.exported && <ExportNote as={state.exported.as} />}
      {state?.state === 'done' && <CheckResult found={state.found} />}
    </div>
  );
}

function ExportNote({ as }: { readonly as: string | null }) {
  return as === null ? (
    <p data-testid="exported">Nothing was exported. Fix what is wrong first.</p>
  ) : (
    <p data-testid="exported">
      Exported as <span className="mono">{as}</span>: unpack it, and read its README.
    </p>
  );
}

function CheckResult({ found }: { readonly found: Examination }) {
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

const PLAYERS = [
  { player: 'expert', doc: 'your expert' },
  { player: 'chance', doc: 'random calls' },
  { player: 'untrained', doc: 'a model before training' },
  { player: 'nonsense', doc: 'broken calls' },
] as const;

type MeanRewards = Pick<CheckReport, 'expert' | 'chance' | 'nonsense'> & { readonly untrained: number | null };

/** The mean reward of each player, as bars. */
function Scores({ report }: { readonly report: MeanRewards }) {
  const maxReward = Math.max(1, ...PLAYERS.map(({ player }) => report[player] ?? 0));
  return (
    <table className="scores">
      <caption>
        Reward <span className="faint">mean per player</span>
      </caption>
      <tbody>
        {PLAYERS.map(({ player, doc }) => {
          const earned = report[player];
          return (
            <tr key={player} data-player={player}>
              <th scope="row">
                {player} <span className="faint">{doc}</span>
              </th>
              <td aria-hidden="true">
                <span className="score-bar">
                  <span style={{ width: `${(Math.max(0, earned ?? 0) / maxReward) * 100}%` }} />
                </span>
              </td>
              <td className="number">{earned === null ? 'none' : earned.toFixed(2)}</td>
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
          {line !== null && <LineButton line={line} />} {text}
        </p>
      ))}
      {play.parts !== null && reward !== null && (
        <p className="row small">
          Reward <b>{reward.toFixed(2)}</b>
          {Object.entries(play.parts).map(([part, amount]) => (
            <RewardChip key={part} amount={Number(amount)}>
              {part} {signed(Number(amount))}
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
    <li className="episode-turn" data-kind={kind}>
      <SpanLabel of={KINDS[kind]} />
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

/**
 * The descriptions of the task and its tools, from the comments in the file. Renders nothing if the file can't be read.
 */
function ToolList() {
  const declared = useEnvironment((s) => (s.reading?.found.problem === null ? s.reading.found.declared : null));
  const python = useEnvironment((s) => languageOf(s.file) === 'python');
  if (!declared) return null;
  const { description, tools } = declared;
  return (
    <section className="panel stack" aria-labelledby="tools-title" data-testid="tools">
      <h2 id="tools-title">Task and tools</h2>
      {description === '' ? (
        <p className="faint">
          {python ? 'Write a docstring in the class' : 'Write a comment before the class'} to describe the task.
        </p>
      ) : (
        <p>{description}</p>
      )}
      {tools.map(({ name, description: does, parameters }) => (
        <div key={name} className="tool">
          <p className="mono">
            <b>{name}</b>({parameters.map(signature).join(', ')})
          </p>
          {does !== '' && <p className="soft">{does}</p>}
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
  const { name, type, choices } = parameter;
  return `${name}: ${choices ? choices.map((choice) => JSON.stringify(choice)).join(' | ') : type}`;
}

/** A list of everything a class can define, in the file's language, for people who don't know the names. */
function ClassMembers() {
  const python = useEnvironment((s) => languageOf(s.file) === 'python');
  return (
    <details className="panel class-members" data-testid="class-members">
      <summary>
        <b>Everything the class can define</b>
      </summary>
      <dl className="small">
        {MEMBERS.map(({ label, python: inPython, doc }) => (
          <div key={label}>
            <dt className="mono">{label === 'tool' ? 'any other method' : python ? inPython : label}</dt>
            <dd className="soft">{doc}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

/**
 * Begins a fresh run in the lab on a person's environment, with its default knobs. This runs the file, so only a button
 * that says so may call it.
 */
function trainOnEnvironment(file: EnvironmentFile): void {
  setEnvironment(file);
  choosePreset(YOUR_ENVIRONMENT);
  start(true);
  location.assign('#/lab');
}
