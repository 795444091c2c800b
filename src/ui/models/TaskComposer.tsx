import { type SubmitEvent, useEffect } from 'react';
import { TEXT_ENVS } from '../../config/environments.ts';
import type { ExpertPlay, PlayedTask } from '../../wire/speakerMessages.ts';
import { Icon } from '../parts/Icon.tsx';
import { paid, short } from '../parts/numberText.ts';
import { ByWordsOrNumber, TaskBlanks, TaskNumber } from '../parts/TaskChoice.tsx';
import { callForm } from '../rollout/callForm.ts';
import { STOPS } from '../rollout/kinds.ts';
import { ModelSampling } from './ModelSampling.tsx';
import { stopWriting, useModels } from './modelStore.ts';
import { anotherTask, beginTask, chooseEnv, playTurns, typeTurn, useTasks } from './taskStore.ts';

/** A task of an environment with its tool: chosen, then played by the model, or by the person who types in its place. */
export function TaskComposer() {
  const task = useTasks((s) => s.task);
  return (
    <div className="composer">
      {task ? <Play /> : <Choose />}
      <div className="row">
        <ModelSampling />
      </div>
    </div>
  );
}

/** Which task. */
function Choose() {
  const { env, form, by, seed, words } = useTasks();
  const writing = useModels((s) => s.writing);
  useEffect(() => {
    if (useTasks.getState().form === undefined) chooseEnv(useTasks.getState().env);
  }, []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    beginTask();
  };
  return (
    <form className="composer" aria-label="Task" noValidate onSubmit={submit}>
      <div className="row">
        <label className="line">
          <span>Environment</span>
          <select value={env} onChange={({ target }) => chooseEnv(target.value)}>
            {TEXT_ENVS.filter((name) => name !== 'your-facts').map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {form && <ByWordsOrNumber by={by} choose={(way) => useTasks.setState({ by: way })} />}
      </div>
      {form && by === 'words' ? (
        <TaskBlanks form={form} words={words} set={(filled) => useTasks.setState({ words: filled })} />
      ) : (
        <TaskNumber seed={seed} set={(number) => useTasks.setState({ seed: number })} another={anotherTask} />
      )}
      <div className="row">
        <button type="submit" className="primary" disabled={writing || form === undefined}>
          <Icon name="play" /> Begin the task
        </button>
        <span className="small faint">{form && by === 'words' ? form.doc : ''}</span>
      </div>
    </form>
  );
}

/** How far a task is, and what came of its turns. */
function State({ task }: { readonly task: PlayedTask }) {
  return (
    <>
      <p className="small" role="status" data-testid="task-state">
        {task.stop === null ? (
          <>
            Turn {task.turns.length + 1}, reward so far <b>{short(task.reward)}</b>; tool: {task.tools.join(', ')}
          </>
        ) : (
          <>
            <b>
              <Icon name={task.success ? 'check' : 'cross'} /> {task.success ? 'solved' : 'not solved'}
            </b>
            , {STOPS[task.stop]}, reward <b>{short(task.reward)}</b> in {task.turns.length} turns
            {!task.judged && '; the environment doesn’t know the right answer'}
          </>
        )}
      </p>
      <ol className="row small task-turns" aria-label="Turns">
        {task.turns.map(({ turn, valid, toolCall, reward }) => (
          <li key={turn} className={reward > 0 ? 'chip reward' : valid ? 'chip' : 'chip warn'}>
            {turn}: {valid ? (toolCall ? 'call' : 'answer') : 'mistake'} {paid(reward)}
          </li>
        ))}
      </ol>
      {task.expert && <Expert play={task.expert} />}
    </>
  );
}

/** The same task by the scripted expert. */
function Expert({ play: { success, reward, turns } }: { readonly play: ExpertPlay }) {
  return (
    <p className="small task-expert" data-testid="task-expert">
      The scripted expert {success ? 'solves it' : 'does not solve it either'}, reward <b>{short(reward)}</b>:{' '}
      <span className="mono ink-call">{turns.join(' → ')}</span>
    </p>
  );
}

/** The task under way: whose turn it is, and what came of those before. */
function Play() {
  const { task, typed } = useTasks();
  const writing = useModels((s) => s.writing);
  if (!task) return null;
  const over = task.stop !== null;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    typeTurn();
  };
  return (
    <form className="composer" aria-label="Turn" onSubmit={submit}>
      <State task={task} />
      {!over && (
        <label className="stack">
          <span className="visually-hidden">Your turn, in the model’s place</span>
          <textarea
            rows={2}
            value={typed}
            disabled={writing}
            placeholder={`Or play it yourself. Type a call such as ${callForm(task.tools)}, or the answer in words`}
            onChange={({ target }) => useTasks.setState({ typed: target.value })}
          />
        </label>
      )}
      <div className="row">
        {writing && (
          <button type="button" className="primary" onClick={stopWriting}>
            <Icon name="pause" /> Stop
          </button>
        )}
        {!writing && !over && (
          <>
            <button type="button" className="primary" onClick={() => playTurns(1)}>
              <Icon name="step" /> The model’s turn
            </button>
            <button type="button" onClick={() => playTurns(Number.MAX_SAFE_INTEGER)}>
              <Icon name="play" /> To the end
            </button>
            <button type="submit" disabled={typed.trim() === ''}>
              Take my turn
            </button>
          </>
        )}
        {!writing && (
          <>
            <button type="button" onClick={beginTask}>
              <Icon name="restart" /> Again
            </button>
            <button type="button" onClick={() => useTasks.setState({ task: null })}>
              Another task
            </button>
          </>
        )}
      </div>
    </form>
  );
}
