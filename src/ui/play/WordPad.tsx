import { useEffect, useRef, useState, type KeyboardEvent, type MouseEvent } from 'react';
import { takeBack, write, type Table } from './game.ts';

/** Buttons shown at once; a large vocabulary is for typing. */
const SHOWN = 160;

interface Word {
  readonly id: number;
  readonly text: string;
}

/** The words that may come next, to click or to type. */
export function WordPad({ table }: { readonly table: Table }) {
  const { vocabulary, played } = table;
  const [typed, setTyped] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const words = played.legal.map((id): Word => ({ id, text: played.names.get(id) ?? vocabulary[id] ?? '' }));
  const matches = words.filter(({ text }) => begins(text, typed));
  // with nothing typed only a word without an alternative is meant
  const meant = typed === '' ? (words.length === 1 ? words[0] : undefined) : (exact(words, typed) ?? matches[0]);
  useEffect(() => {
    // a finger has the buttons; its keyboard would cover them
    if (matchMedia('(pointer: fine)').matches) input.current?.focus();
  }, []);
  const choose = (word: Word | undefined) => {
    if (!word) return;
    setTyped('');
    write(word.id);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' || (event.key === ' ' && typed !== '')) choose(meant);
    else if (event.key === 'Backspace' && typed === '') takeBack();
    else return;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent, word: Word) => {
    choose(word);
    // the button may be gone with its word; who pressed it by key goes on typing
    if (event.detail === 0) input.current?.focus();
  };
  return (
    <div className="word-pad">
      <div className="line word-line">
        <input
          ref={input}
          aria-label="Next word"
          aria-describedby="word-hint"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          placeholder="Type a word"
          value={typed}
          aria-invalid={typed !== '' && !meant}
          onChange={(event) => setTyped(event.target.value.trimStart())}
          onKeyDown={onKey}
        />
        <button type="button" disabled={played.draft === 0} onClick={takeBack}>
          Take back
        </button>
      </div>
      <p id="word-hint" className="faint" role="status">
        {hint(typed, meant, words.length)}
      </p>
      <Words {...{ matches, meant, onClick }} />
    </div>
  );
}

interface WordsProps {
  readonly matches: readonly Word[];
  readonly meant: Word | undefined;
  readonly onClick: (event: MouseEvent, word: Word) => void;
}

function Words({ matches, meant, onClick }: WordsProps) {
  return (
    <div className="row words" role="group" aria-label="Allowed next words">
      {matches.slice(0, SHOWN).map((word) => (
        <button
          key={word.id}
          type="button"
          className="word-button"
          data-meant={word === meant}
          onClick={(event) => onClick(event, word)}
        >
          {word.text}
        </button>
      ))}
      {matches.length > SHOWN && <span className="faint">and {matches.length - SHOWN} more: type to find them</span>}
    </div>
  );
}

/** Whether a word begins as typed; a tag may be typed without its brackets. */
function begins(text: string, typed: string): boolean {
  const wanted = typed.trim().toLowerCase();
  return [/^/, /^</, /^<\//].some((bracket) => text.toLowerCase().replace(bracket, '').startsWith(wanted));
}

function exact(words: readonly Word[], typed: string): Word | undefined {
  return words.find(({ text }) => text === typed.trim());
}

function hint(typed: string, meant: Word | undefined, legal: number): string {
  if (meant) return `Enter writes ${meant.text}. Backspace takes a word back until the turn ends.`;
  if (typed !== '') return `No allowed word begins with “${typed}”.`;
  return `${legal} words are allowed next. Type one and press Enter, or choose it.`;
}
