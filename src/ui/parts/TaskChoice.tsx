import { useId } from 'react';
import type { AskForm } from '../../domain/taskForm.ts';
import { Icon } from './Icon.tsx';
import './taskChoice.css';

interface ByWordsOrNumberProps {
  readonly chosenBy: 'words' | 'number';
  readonly choose: (by: 'words' | 'number') => void;
}

/** A switch between a person's own task and a task that the environment draws from a number. */
export function ByWordsOrNumber({ chosenBy, choose }: ByWordsOrNumberProps) {
  return (
    <div className="segments" role="group" aria-label="How a task is chosen">
      <button type="button" aria-pressed={chosenBy === 'words'} onClick={() => choose('words')}>
        Your own task
      </button>
      <button type="button" aria-pressed={chosenBy === 'number'} onClick={() => choose('number')}>
        A task by number
      </button>
    </div>
  );
}

interface TaskNumberProps {
  readonly seed: number;
  readonly set: (seed: number) => void;
  readonly chooseRandom: () => void;
}

/** An input for a task's number, from 0 to 2^31 − 1, and a button for another one. */
export function TaskNumber({ seed, set, chooseRandom }: TaskNumberProps) {
  const max = 2 ** 31 - 1;
  return (
    <div className="row">
      <label className="line">
        <span>Task number</span>
        <input
          type="number"
          {...{ min: 0, max }}
          value={seed}
          onChange={({ target: { valueAsNumber: value } }) =>
            Number.isInteger(value) && value >= 0 && value <= max && set(value)
          }
        />
      </label>
      <button type="button" onClick={chooseRandom}>
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

export function TaskBlanks({ form: { blanks }, words, set }: TaskBlanksProps) {
  const id = useId();
  const write = (changedIndex: number, word: string) =>
    set(blanks.map((_, i) => (i === changedIndex ? word : (words[i] ?? ''))));
  return (
    <div className="row task-blanks">
      {blanks.map(({ label, words: suggestions, optional }, blankIndex) => (
        <label key={`${label} ${blankIndex}`} data-free={suggestions === null}>
          <span className="small soft">
            {label}
            {optional && <span className="faint"> (or nothing)</span>}
          </span>
          <input
            list={suggestions ? `${id} ${blankIndex}` : undefined}
            value={words[blankIndex] ?? ''}
            placeholder={optional ? '–' : ''}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            onFocus={({ target }) => target.select()}
            onChange={({ target }) => write(blankIndex, target.value)}
          />
          {suggestions && (
            <datalist id={`${id} ${blankIndex}`}>
              {suggestions.map((word) => (
                <option key={word} value={word} />
              ))}
            </datalist>
          )}
        </label>
      ))}
    </div>
  );
}
