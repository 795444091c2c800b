import { useState } from 'react';
import { type FieldName, FIELDS, parseField } from '../../config/config.ts';
import { ConfigError } from '../../config/configProblem.ts';

interface Props {
  readonly name: FieldName;
  readonly value: number;
  readonly turn: (value: number) => void;
}

/** A knob of a run that is yet to begin. A value that cannot be stays in the box, with the reason. */
export function TrainKnob({ name, value, turn }: Props) {
  const [draft, setDraft] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const type = (text: string) => {
    setDraft(text);
    try {
      turn(Number(parseField(name, text.trim())));
      setProblem(null);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      setProblem(error.message);
    }
  };
  return (
    <label>
      <span className="small">{FIELDS[name].label}</span>
      <input
        inputMode="numeric"
        autoComplete="off"
        value={draft ?? String(value)}
        aria-invalid={problem !== null}
        onChange={({ target }) => type(target.value)}
        onBlur={() => problem === null && setDraft(null)}
      />
      {problem !== null && (
        <span className="knob-problem small" role="alert">
          {problem}
        </span>
      )}
    </label>
  );
}
