import { type KeyboardEvent, type SubmitEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Icon } from '../parts/Icon.tsx';
import { shortNumber, wholeNumber, signedReward, rewardNumber } from '../../page/words/numberText.ts';
import { TokenView } from '../tokens/TokenView.tsx';
import { type ChatChannel, chatLooks, chatTurns } from '../../page/models/chatTurns.ts';
import { clearText, sendMessage, stopWriting, useModels } from '../../page/models/modelStore.ts';
import {
  useTasks,
  chooseRandomTask,
  beginTask,
  chooseEnv,
  playTurns,
  takeTypedTurn,
} from '../../page/models/taskStore.ts';
import { TEXT_ENVS } from '../../config/environments.ts';
import type { ExpertPlay, TaskProgress } from '../../wire/speakerMessages.ts';
import { ByWordsOrNumber, TaskBlanks, TaskNumber } from '../parts/TaskChoice.tsx';
import { callTemplate } from '../../page/rollout/callTemplate.ts';
import { STOP_TEXTS } from '../../page/rollout/kinds.ts';
import { SamplingKnobs } from '../parts/SamplingKnobs.tsx';

export function Chat() {
  const passages = useModels((s) => s.passages);
  const selected = useModels((s) => s.selectedToken);
  const [channel, setChannel] = useState<ChatChannel>('none');
  const [playsTask, setTools] = useState(false);
  const writing = useModels((s) => s.writing);
  const choose = (task: boolean) => {
    if (task === playsTask) return;
    clearText();
    useTasks.setState({ task: null });
    setTools(task);
  };
  const select = useCallback((at: number | null) => useModels.setState({ selectedToken: at }), []);
  const turns = useMemo(() => chatTurns(passages), [passages]);
  const text = useScrollToEnd(passages);
  return (
    <section className="panel chat col gap-4 low" aria-label="Conversation">
      <div className="panel-head">
        <h3 className="visually-hidden">Conversation</h3>
        <div className="segments" role="group" aria-label="What to do with it">
          <button type="button" aria-pressed={!playsTask} disabled={writing} onClick={() => choose(false)}>
            Talk
          </button>
          <button type="button" aria-pressed={playsTask} disabled={writing} onClick={() => choose(true)}>
            Play a task
          </button>
        </div>
        <WritingStatus />
        <div className="segments end" role="group" aria-label="What colour says">
          <button type="button" aria-pressed={channel === 'none'} onClick={() => setChannel('none')}>
            Who
          </button>
          <button type="button" aria-pressed={channel === 'surprise'} onClick={() => setChannel('surprise')}>
            Surprise
          </button>
        </div>
      </div>
      <div className="chat-text low scrolls" ref={text}>
        {passages.length === 0 && (
          <p className="empty">
            {playsTask
              ? 'Choose a task. The model gets a tool, calls it in JSON and reads the answer. Or play in its place.'
              : 'Write to the model. It answers token by token. You also see what its template adds to your words.'}
          </p>
        )}
        <TokenView
          {...{ turns, channel, looks, select }}
          className="flow"
          layout="text"
          selected={selected}
          label="Text; arrow keys move from token to token"
        />
      </div>
      {playsTask ? <TaskComposer /> : <Composer />}
    </section>
  );
}

const looks = chatLooks(() => useModels.getState().passages);

/** Keeps a growing text scrolled to its end, unless the person has scrolled away from it. */
function useScrollToEnd(text: unknown) {
  const box = useRef<HTMLDivElement>(null);
  const isAway = useRef(false);
  useEffect(() => {
    const { current } = box;
    if (!current) return;
    const onScroll = () => {
      isAway.current = current.scrollHeight - current.scrollTop - current.clientHeight > 60;
    };
    current.addEventListener('scroll', onScroll, { passive: true });
    return () => current.removeEventListener('scroll', onScroll);
  }, []);
  useEffect(() => {
    if (!isAway.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [text]);
  return box;
}

const PAUSE_TEXTS = {
  turn: 'its turn is over',
  steps: 'as many tokens as it may',
  full: 'the text is full: open the model for longer texts',
  stopped: 'stopped',
  over: 'the task is over',
} as const;

function WritingStatus() {
  const { writing, lastPause, passages, opened } = useModels();
  const length = opened?.plan.length ?? 0;
  const last = passages.at(-1);
  const used = last ? last.from + last.count : 0;
  const speed =
    lastPause && lastPause.tokens > 0 && lastPause.seconds > 0
      ? `${shortNumber(lastPause.tokens / lastPause.seconds)} tokens/s, `
      : '';
  return (
    <span className="small soft" role="status" data-testid="pace">
      {writing ? 'writing …' : lastPause ? `${speed}${PAUSE_TEXTS[lastPause.why]}` : ''}
      {used > 0 && ` · ${wholeNumber(used)} of ${wholeNumber(length)} tokens`}
    </span>
  );
}

/** Form for a person's message. Enter sends it, Shift+Enter begins a new line. */
function Composer() {
  const words = useModels((s) => s.typedText);
  const system = useModels((s) => s.systemPrompt);
  const hasText = useModels((s) => s.passages.length > 0);
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
    <form className="composer grid gap-3" aria-label="Your words" noValidate onSubmit={submit}>
      {!hasText && (
        <label className="stack small">
          <span className="soft">System prompt. If it’s empty, the template uses its own.</span>
          <textarea
            rows={2}
            value={system}
            onChange={({ target }) => useModels.setState({ systemPrompt: target.value })}
          />
        </label>
      )}
      <label className="stack">
        <span className="visually-hidden">Message</span>
        <textarea
          rows={2}
          value={words}
          placeholder="Write a message"
          onKeyDown={onKey}
          onChange={({ target }) => useModels.setState({ typedText: target.value })}
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
        <button type="button" disabled={writing || !hasText} onClick={clearText}>
          <Icon name="restart" /> New conversation
        </button>
        <ModelSampling />
      </div>
    </form>
  );
}

function TaskComposer() {
  const task = useTasks((s) => s.task);
  return (
    <div className="composer grid gap-3">
      {task ? <TaskPlay /> : <TaskChoice />}
      <div className="row">
        <ModelSampling />
      </div>
    </div>
  );
}

function TaskChoice() {
  const { env, form, chosenBy, seed, blankWords } = useTasks();
  const writing = useModels((s) => s.writing);
  useEffect(() => {
    if (useTasks.getState().form === undefined) chooseEnv(useTasks.getState().env);
  }, []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    beginTask();
  };
  return (
    <form className="composer grid gap-3" aria-label="Task" noValidate onSubmit={submit}>
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
        {form && <ByWordsOrNumber chosenBy={chosenBy} choose={(way) => useTasks.setState({ chosenBy: way })} />}
      </div>
      {form && chosenBy === 'words' ? (
        <TaskBlanks form={form} words={blankWords} set={(filled) => useTasks.setState({ blankWords: filled })} />
      ) : (
        <TaskNumber seed={seed} set={(number) => useTasks.setState({ seed: number })} chooseRandom={chooseRandomTask} />
      )}
      <div className="row">
        <button type="submit" className="primary" disabled={writing || form === undefined}>
          <Icon name="play" /> Begin the task
        </button>
        <span className="small faint">{form && chosenBy === 'words' ? form.doc : ''}</span>
      </div>
    </form>
  );
}

function TaskState({ task }: { readonly task: TaskProgress }) {
  return (
    <>
      <p className="small" role="status" data-testid="task-state">
        {task.stop === null ? (
          <>
            Turn {task.turns.length + 1}, reward so far <b>{rewardNumber(task.reward)}</b>; tool:{' '}
            {task.tools.join(', ')}
          </>
        ) : (
          <>
            <b>
              <Icon name={task.success ? 'check' : 'cross'} /> {task.success ? 'solved' : 'not solved'}
            </b>
            , {STOP_TEXTS[task.stop]}, reward <b>{rewardNumber(task.reward)}</b> in {task.turns.length} turns
            {!task.judged && '; the environment doesn’t know the right answer'}
          </>
        )}
      </p>
      <ol className="row small gap-2" aria-label="Turns">
        {task.turns.map(({ turn, valid, toolCall, reward }) => (
          <li key={turn} className={reward > 0 ? 'chip reward' : valid ? 'chip' : 'chip warn'}>
            {turn}: {valid ? (toolCall ? 'call' : 'answer') : 'mistake'} {signedReward(reward)}
          </li>
        ))}
      </ol>
      {task.expert && <Expert play={task.expert} />}
    </>
  );
}

function Expert({ play: { success, reward, turns } }: { readonly play: ExpertPlay }) {
  return (
    <p className="small task-expert" data-testid="task-expert">
      The scripted expert {success ? 'solves it' : 'does not solve it either'}, reward <b>{rewardNumber(reward)}</b>:{' '}
      <span className="mono ink-call">{turns.join(' → ')}</span>
    </p>
  );
}

function TaskPlay() {
  const { task, typed } = useTasks();
  const writing = useModels((s) => s.writing);
  if (!task) return null;
  const isOver = task.stop !== null;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    takeTypedTurn();
  };
  return (
    <form className="composer grid gap-3" aria-label="Turn" onSubmit={submit}>
      <TaskState task={task} />
      {!isOver && (
        <label className="stack">
          <span className="visually-hidden">Your turn, in the model’s place</span>
          <textarea
            rows={2}
            value={typed}
            disabled={writing}
            placeholder={`Or play it yourself. Type a call such as ${callTemplate(task.tools)}, or the answer in words`}
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
        {!writing && !isOver && (
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

function ModelSampling() {
  const sampling = useModels((s) => s.sampling);
  const steps = useModels((s) => s.maxTokens);
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
            Number.isInteger(value) && value >= 1 && value <= 4096 && useModels.setState({ maxTokens: value })
          }
        />
      </label>
    </fieldset>
  );
}
