import { useState } from 'react';
import { parseField, type FieldName } from '../../config/config.ts';
import { ConfigError } from '../../config/configProblem.ts';
import { edit, useConfig } from './configStore.ts';
import { knobText } from '../../config/knobText.ts';
import { movedTo, scaleOf, SLIDER_STEPS, toSlider, type Range } from './scale.ts';
import { Icon } from '../parts/Icon.tsx';

const SEED_LIMIT = 100_000; // a new seed stays short enough to read out

interface Props {
  readonly name: FieldName;
  readonly range: Range;
  readonly label: string;
  readonly disabled: boolean;
}

/** A number: typed or dragged. A typed value that cannot be stays in the box, with the reason; the run keeps the old one. */
export function NumberKnob({ name, range, label, disabled }: Props) {
  const value = Number(useConfig((s) => s.wanted[name]));
  const [draft, setDraft] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const type = (text: string) => {
    setDraft(text);
    try {
      edit({ [name]: parseField(name, text.trim()) });
      setProblem(null);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      setProblem(error.problems.map(({ got, want }) => `${got} isn’t ${want}.`).join(' '));
    }
  };
  const letGo = () => {
    setDraft(null);
    setProblem(null);
  };
  const slide = (next: number) => {
    letGo();
    edit({ [name]: next });
  };
  return (
    <>
      <input
        id={`knob-${name}`}
        className="knob-value"
        inputMode="decimal"
        autoComplete="off"
        spellCheck={false}
        value={draft ?? knobText(value)}
        disabled={disabled}
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : `problem-${name}`}
        onChange={(event) => type(event.target.value)}
        onBlur={() => problem === null && setDraft(null)}
        onKeyDown={(event) => event.key === 'Escape' && letGo()}
      />
      {name === 'seed' ? (
        <button
          type="button"
          className="quiet small knob-slider dice"
          onClick={() => slide(Math.floor(Math.random() * SEED_LIMIT))}
        >
          <Icon name="dice" /> new seed
        </button>
      ) : (
        <Slider {...{ value, range, label, disabled, slide }} />
      )}
      {problem !== null && (
        <p className="knob-problem" id={`problem-${name}`} role="alert">
          {problem} The run keeps {knobText(value)}.
        </p>
      )}
    </>
  );
}

interface SliderProps extends Omit<Props, 'name'> {
  readonly value: number;
  readonly slide: (value: number) => void;
}

/** Whole numbers on a linear scale one by one; others in even steps of their scale. */
function Slider({ value, range, label, disabled, slide }: SliderProps) {
  const stepped = scaleOf(range) === 'linear' && range.integer;
  return (
    <input
      type="range"
      className="knob-slider"
      aria-label={`${label}, slider`}
      aria-valuetext={knobText(value)}
      disabled={disabled}
      min={stepped ? range.min : 0}
      max={stepped ? range.max : SLIDER_STEPS}
      step={1}
      value={stepped ? value : toSlider(value, range)}
      onChange={(event) => {
        const position = Number(event.target.value);
        slide(stepped ? position : movedTo(position, value, range));
      }}
    />
  );
}
