import { useId } from 'react';
import type { AskForm } from '../../domain/taskForm.ts';
import '../styles/task-choice.css';
import { Icon } from './Icon.tsx';

interface ByProps {
  readonly by: 'words' | 'number';
  readonly choose: (by: 'words' | 'number') => void;
}

/** A switch between a person's own task and a task that the environment draws from a number. */
export function ByWordsOrNumber({ by, choose }: ByProps) {
  return (
    <div className="segments" role="group" aria-label="How a task is chosen">
      <button type="button" aria-pressed={by === 'words'} onClick={() => choose('words')}>
        Your own task
      </button>
      <button type="button" aria-pressed={by === 'number'} onClick={() => choose('number')}>
        A task by number
      </button>
    </div>
  );
}

interface TaskNumberProps {
  readonly seed: number;
  readonly set: (seed: number) => void;
  readonly another: () => void;
}

/** An input for a task's number, from 0 to 2^31 − 1, and a button for another one. */
export function TaskNumber({ seed, set, another }: TaskNumberProps) {
  const max = 2 ** 31 - 1;
  return (
    <div className="row">
      <label className="line">
        <span>Task number</span>
        <input
          type="number"
          {...{ min: 0, max: max }}
          value={seed}
          onChange={({ target: { valueAsNumber: value } }) =>
            Number.isInteger(value) && value >= 0 && value <= max && set(value)
          }
        />
      </label>
      <button type="button" onClick={another}>
        <Icon name="dice" /> Another
      </button>
    </div>
  );
}

interface TaskBlanksProps {
  readonly form: AskForm;
  readonly words: readonly string[]; // one for each blank; missing words are empty
  readonly set: (words: readonly string[]) => void;
}

/** Inputs for the blanks of a person's own task. */
export function TaskBlanks({ form: { blanks }, words, set }: TaskBlanksProps) {
  const id = useId();
  const write = (at: number, word: string) => set(blanks.map((_, i) => (i === at ? word : (words[i] ?? ''))));
  return (
    <div className="row task-blanks">
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
