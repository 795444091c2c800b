import { type KeyboardEvent, type SubmitEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Icon } from '../parts/Icon.tsx';
import { short, whole, paid } from '../parts/numberText.ts';
import { TokenView } from '../rollout/TokenView.tsx';
import { type ChatChannel, chatLooks, chatTurns } from './chatTurns.ts';
import { clearText, sendMessage, stopWriting, useModels } from './modelStore.ts';
import { useTasks, anotherTask, beginTask, chooseEnv, playTurns, typeTurn } from './taskStore.ts';
import { TEXT_ENVS } from '../../config/environments.ts';
import type { ExpertPlay, PlayedTask } from '../../wire/speakerMessages.ts';
import { ByWordsOrNumber, TaskBlanks, TaskNumber } from '../parts/TaskChoice.tsx';
import { callForm } from '../rollout/callForm.ts';
import { STOPS } from '../rollout/kinds.ts';
import { SamplingKnobs } from '../parts/SamplingKnobs.tsx';

/** A conversation with the model that is open: free text, answered token by token. */
export function Chat() {
  const passages = useModels((s) => s.passages);
  const looked = useModels((s) => s.looked);
  const [channel, setChannel] = useState<ChatChannel>('none');
  const [tools, setTools] = useState(false);
  const writing = useModels((s) => s.writing);
  const choose = (task: boolean) => {
    if (task === tools) return;
    clearText();
    useTasks.setState({ task: null });
    setTools(task);
  };
  const select = useCallback((at: number | null) => useModels.setState({ looked: at }), []);
  const turns = useMemo(() => chatTurns(passages), [passages]);
  const text = useFollowed(passages);
  return (
    <section className="panel chat" aria-label="Conversation">
      <div className="panel-head">
        <h3 className="visually-hidden">Conversation</h3>
        <div className="segments" role="group" aria-label="What to do with it">
          <button type="button" aria-pressed={!tools} disabled={writing} onClick={() => choose(false)}>
            Talk
          </button>
          <button type="button" aria-pressed={tools} disabled={writing} onClick={() => choose(true)}>
            Play a task
          </button>
        </div>
        <Pace />
        <div className="segments end" role="group" aria-label="What colour says">
          <button type="button" aria-pressed={channel === 'none'} onClick={() => setChannel('none')}>
            Who
          </button>
          <button type="button" aria-pressed={channel === 'surprise'} onClick={() => setChannel('surprise')}>
            Surprise
          </button>
        </div>
      </div>
      <div className="chat-text" ref={text}>
        {passages.length === 0 && (
          <p className="empty">
            {tools
              ? 'Choose a task. The model gets a tool, calls it in JSON and reads the answer. Or play in its place.'
              : 'Write to the model. It answers token by token. You also see what its template adds to your words.'}
          </p>
        )}
        <TokenView
          {...{ turns, channel, looks, select }}
          className="flow"
          setting="text"
          selected={looked}
          label="Text; arrow keys move from token to token"
        />
      </div>
      {tools ? <TaskComposer /> : <Composer />}
    </section>
  );
}

const looks = chatLooks(() => useModels.getState().passages);

/** Stays at the end of a text that grows, unless somebody has scrolled away from it. */
function useFollowed(grows: unknown) {
  const box = useRef<HTMLDivElement>(null);
  const away = useRef(false);
  useEffect(() => {
    const { current } = box;
    if (!current) return;
    const onScroll = () => {
      away.current = current.scrollHeight - current.scrollTop - current.clientHeight > 60;
    };
    current.addEventListener('scroll', onScroll, { passive: true });
    return () => current.removeEventListener('scroll', onScroll);
  }, []);
  useEffect(() => {
    if (!away.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [grows]);
  return box;
}

const ENDS = {
  turn: 'its turn is over',
  steps: 'as many tokens as it may',
  full: 'the text is full: open the model for longer texts',
  stopped: 'stopped',
  over: 'the task is over',
} as const;

/** How fast it writes, and why it stopped. */
function Pace() {
  const { writing, paused, passages, opened } = useModels();
  const length = opened?.plan.length ?? 0;
  const last = passages.at(-1);
  const used = last ? last.from + last.count : 0;
  const speed =
    paused && paused.tokens > 0 && paused.seconds > 0 ? `${short(paused.tokens / paused.seconds)} tokens/s, ` : '';
  return (
    <span className="small soft" role="status" data-testid="pace">
      {writing ? 'writing …' : paused ? `${speed}${ENDS[paused.why]}` : ''}
      {used > 0 && ` · ${whole(used)} of ${whole(length)} tokens`}
    </span>
  );
}

/** Where a person writes. Enter sends, with Shift it makes a line. */
function Composer() {
  const words = useModels((s) => s.words);
  const system = useModels((s) => s.system);
  const begun = useModels((s) => s.passages.length > 0);
  const writing = useModels((s) => s.writing);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    sendMessage();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    sendMessage();
  };
  return (
    <form className="composer" aria-label="Your words" noValidate onSubmit={submit}>
      {!begun && (
        <label className="stack small">
          <span className="soft">System prompt. If it’s empty, the template uses its own.</span>
          <textarea rows={2} value={system} onChange={({ target }) => useModels.setState({ system: target.value })} />
        </label>
      )}
      <label className="stack">
        <span className="visually-hidden">Message</span>
        <textarea
          rows={2}
          value={words}
          placeholder="Write a message"
          onKeyDown={onKey}
          onChange={({ target }) => useModels.setState({ words: target.value })}
        />
      </label>
      <div className="row">
        {writing ? (
          <button type="button" className="primary" onClick={stopWriting}>
            <Icon name="pause" /> Stop
          </button>
        ) : (
          <button type="submit" className="primary" disabled={words.trim() === ''}>
            <Icon name="play" /> Send
          </button>
        )}
        <button type="button" disabled={writing || !begun} onClick={clearText}>
          <Icon name="restart" /> New conversation
        </button>
        <ModelSampling />
      </div>
    </form>
  );
}

/** A task of an environment with its tool: chosen, then played by the model, or by the person who types in its place. */
function TaskComposer() {
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

/** The task that is being played: what each turn so far led to, and a field for a turn that a person writes. */
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

/** How the model draws. */
function ModelSampling() {
  const sampling = useModels((s) => s.sampling);
  const steps = useModels((s) => s.steps);
  return (
    <fieldset className="row chat-sampling">
      <legend className="visually-hidden">Sampling</legend>
      <SamplingKnobs sampling={sampling} set={(changed) => useModels.setState({ sampling: changed })} />
      <label className="line">
        <span>Tokens</span>
        <input
          type="number"
          className="knob-value"
          {...{ min: 1, max: 4096, step: 1 }}
          value={steps}
          onChange={({ target: { valueAsNumber: value } }) =>
            Number.isInteger(value) && value >= 1 && value <= 4096 && useModels.setState({ steps: value })
          }
        />
      </label>
    </fieldset>
  );
}
