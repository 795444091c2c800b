import type { SubmitEvent } from 'react';
import { Icon } from '../parts/Icon.tsx';
import { useLive } from '../run/liveStore.ts';
import { ByWordsOrNumber, TaskBlanks, TaskNumber } from '../parts/TaskChoice.tsx';
import { anotherTask, ask, useTalk } from './talkStore.ts';

/** What the agent is asked: in words of the environment, chosen or typed, or a task by its number. */
export function TaskForm() {
  const { form, by, asking, seed, words } = useTalk();
  const trains = useLive((s) => s.running);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void ask();
  };
  return (
    <form className="card talk-form" aria-label="Task" onSubmit={onSubmit}>
      {form && <ByWordsOrNumber by={by} choose={(way) => useTalk.setState({ by: way })} />}
      {form && by === 'words' ? (
        <TaskBlanks form={form} words={words} set={(filled) => useTalk.setState({ words: filled })} />
      ) : (
        <TaskNumber seed={seed} set={(number) => useTalk.setState({ seed: number })} another={anotherTask} />
      )}
      <p className="small faint">
        {form && by === 'words' ? form.doc : 'Each number is the seed of a task, drawn as in training.'}
      </p>
      {asking && trains && (
        <p className="small note" role="status">
          Training is running and takes most of the processor. Pause it for a faster answer.
        </p>
      )}
      <button type="submit" className="primary" disabled={asking || form === undefined}>
        <Icon name="play" /> {asking ? 'The agent is thinking …' : 'Ask the agent'}
      </button>
    </form>
  );
}
