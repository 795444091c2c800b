import { type KeyboardEvent, type SubmitEvent, useEffect, useRef, useState } from 'react';
import { callForm } from '../rollout/callForm.ts';
import { Icon } from '../parts/Icon.tsx';
import { writeTurn } from './game.ts';

interface Props {
  readonly tools: readonly string[];
  readonly budget: number; // tokens that the turn may have
}

/** Where a turn in text is typed: a call as JSON, or an answer in words. */
export function TurnPad({ tools, budget }: Props) {
  const [typed, setTyped] = useState('');
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // a finger has the keyboard over the episode as soon as this has the focus
    if (matchMedia('(pointer: fine)').matches) input.current?.focus();
  }, []);
  const empty = typed.trim() === '';
  const take = () => {
    if (!empty) writeTurn(typed);
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    take();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    take();
  };
  return (
    <form className="turn-pad" aria-label="Your turn" noValidate onSubmit={onSubmit}>
      <textarea
        ref={input}
        rows={3}
        aria-label="Next turn"
        aria-describedby="turn-hint"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder={callForm(tools)}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onKeyDown={onKey}
      />
      <div className="row">
        <button type="submit" className="primary" disabled={empty}>
          <Icon name="play" /> Take the turn
        </button>
        <p id="turn-hint" className="small faint">
          Type a call as JSON, as the prompt shows it, or the answer in words; at most {budget} tokens. Enter takes the
          turn.
        </p>
      </div>
    </form>
  );
}
