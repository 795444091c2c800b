import { useState } from 'react';
import { parseDecimal } from '../../base/decimal.ts';

interface Props {
  readonly label: string;
  readonly value: number;
  readonly min?: number;
  readonly max: number;
  readonly onChange: (value: number) => void;
}

/** Keeps unfinished text while typing; leaving the field restores the last valid number. */
export function NumberInput({ label, value, min = 1, max, onChange }: Props) {
  const [typed, setTyped] = useState<string | null>(null);
  const onType = (text: string) => {
    setTyped(text);
    const number = parseDecimal(text);
    if (number !== null && Number.isInteger(number) && number >= min && number <= max) onChange(number);
  };
  return (
    <label className="line between field">
      {label}
      <input
        type="number"
        min={min}
        max={max}
        value={typed ?? value}
        onChange={(event) => onType(event.target.value)}
        onBlur={() => setTyped(null)}
      />
    </label>
  );
}
