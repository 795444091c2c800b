import type { FieldName } from '../../config/config.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { useLive } from '../run/liveStore.ts';
import { edit, useConfig } from './configStore.ts';

interface Props {
  readonly name: FieldName;
  readonly choices: readonly string[];
  readonly label: string;
  readonly disabled: boolean;
}
const ROOM = 17; // letters that fit side by side

/** One of a few words: a switch, a row of buttons, or a menu where they would not fit. */
export function ChoiceKnob({ name, choices, label, disabled }: Props) {
  const value = String(useConfig((s) => s.wanted[name]));
  const own = useLive((s) => s.ownEnvironment);
  if (choices.length === 2 && choices.includes('on')) {
    const on = value === 'on';
    return (
      <button
        type="button"
        role="switch"
        className="switch"
        aria-label={label}
        aria-checked={on}
        disabled={disabled}
        onClick={() => edit({ [name]: on ? 'off' : 'on' })}
      >
        <span aria-hidden="true">{value}</span>
      </button>
    );
  }
  if (choices.join('').length <= ROOM) {
    return (
      <div className="segments" role="group" aria-label={label}>
        {choices.map((choice) => (
          <button
            key={choice}
            type="button"
            aria-pressed={choice === value}
            disabled={disabled}
            onClick={() => edit({ [name]: choice })}
          >
            {choice}
          </button>
        ))}
      </div>
    );
  }
  return (
    <select
      className="small knob-menu"
      aria-label={label}
      value={value}
      disabled={disabled}
      onChange={(event) => edit({ [name]: event.target.value })}
    >
      {[...new Set([...choices, value])].map((choice) => (
        <option key={choice} value={choice}>
          {choice === YOUR_ENVIRONMENT ? (own ?? choice) : choice}
        </option>
      ))}
    </select>
  );
}
