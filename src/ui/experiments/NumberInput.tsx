import { useState } from 'react';
import { decimal } from '../../base/decimal.ts';

interface Props {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  readonly onChange: (value: number) => void;
}

/** A whole number from 1 to `max`; what is typed on the way to one is left alone, and put right when the field is left. */
export function NumberInput({ label, value, max, onChange }: Props) {
  const [typed, setTyped] = useState<string | null>(null);
  const take = (text: string) => {
    setTyped(text);
    const number = decimal(text);
    if (number !== null && Number.isInteger(number) && number >= 1 && number <= max) onChange(number);
  };
  return (
    <label className="line between field">
      {label}
      <input
        type="number"
        min={1}
        max={max}
        value={typed ?? value}
        onChange={(event) => take(event.target.value)}
        onBlur={() => setTyped(null)}
      />
    </label>
  );
}
