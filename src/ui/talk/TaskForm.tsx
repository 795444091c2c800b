import { type SubmitEvent, useId } from 'react';
import type { AskForm } from '../../domain/asking.ts';
import { Icon } from '../parts/Icon.tsx';
import { anotherTask, ask, useTalk } from './talkStore.ts';

/** What the agent is asked: in words of the environment, chosen or typed, or a task by its number. */
export function TaskForm() {
  const { form, by, asking, seed } = useTalk();
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void ask();
  };
  return (
    <form className="card talk-form" aria-label="Task" onSubmit={onSubmit}>
      {form && (
        <div className="segments" role="group" aria-label="How a task is chosen">
          <button type="button" aria-pressed={by === 'words'} onClick={() => useTalk.setState({ by: 'words' })}>
            In your words
          </button>
          <button type="button" aria-pressed={by === 'number'} onClick={() => useTalk.setState({ by: 'number' })}>
            By number
          </button>
        </div>
      )}
      {form && by === 'words' ? (
        <Blanks form={form} />
      ) : (
        <div className="row">
          <label className="line">
            <span>Task</span>
            <input
              type="number"
              min={0}
              max={2 ** 31 - 1}
              value={seed}
              onChange={({ target }) => Number.isInteger(target.valueAsNumber) && target.valueAsNumber >= 0 && useTalk.setState({ seed: target.valueAsNumber })} // prettier-ignore
            />
          </label>
          <button type="button" onClick={anotherTask}>
            <Icon name="dice" /> Another
          </button>
        </div>
      )}
      <p className="small faint">
        {form && by === 'words' ? form.doc : 'Each number is a task of this environment; training draws them as well.'}
      </p>
      <button type="submit" className="primary" disabled={asking || form === undefined}>
        <Icon name="play" /> {asking ? 'The agent is thinking …' : 'Ask the agent'}
      </button>
    </form>
  );
}

function Blanks({ form: { blanks } }: { readonly form: AskForm }) {
  const id = useId();
  const words = useTalk((s) => s.words);
  const write = (at: number, word: string) =>
    useTalk.setState({ words: blanks.map((_, i) => (i === at ? word : (words[i] ?? ''))) });
  return (
    <div className="row talk-blanks">
      {blanks.map(({ label, words: known, optional }, at) => (
        <label key={`${label} ${at}`} data-free={known === null}>
          <span className="small soft">
            {label}
            {optional && <span className="faint"> (or nothing)</span>}
          </span>
          <input
            list={known ? `${id} ${at}` : undefined}
            value={words[at] ?? ''}
            placeholder={optional ? '–' : ''}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            onFocus={({ target }) => target.select()}
            onChange={({ target }) => write(at, target.value)}
          />
          {known && (
            <datalist id={`${id} ${at}`}>
              {known.map((word) => (
                <option key={word} value={word} />
              ))}
            </datalist>
          )}
        </label>
      ))}
    </div>
  );
}
