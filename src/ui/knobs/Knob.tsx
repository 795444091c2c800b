import { memo, useId, useState } from 'react';
import { FIELD_DOCS } from '../../config/fieldDocs.ts';
import { allowedText, FIELDS, type Field, type FieldName, type When, knobText } from '../../config/fields.ts';
import { termsOf } from '../../config/formulaLinks.ts';
import { pinTarget, sameTarget, useFormula } from '../../page/training/formulaTarget.ts';
import { presetConfig, useConfig, editKnobs } from '../../page/knobs/configStore.ts';
import { whyIdle } from '../../config/idle.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { beforeAndAfter } from '../../runs/beforeAndAfter.ts';
import { lastChangedKnob } from '../../page/runs/lastChangedKnob.ts';
import { shownText } from '../../page/words/metricText.ts';
import { parseField } from '../../config/config.ts';
import { ConfigError } from '../../config/configProblem.ts';
import { valueAfterSlide, scaleOf, SLIDER_STEPS, sliderPosition, type KnobRange } from '../../page/knobs/scale.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';

const SHOWN_METRICS = ['rollout/success'] as const;

/** Success right before and after the last knob change, shown under that knob. Claims no cause. */
function SinceLastChange({ name }: { readonly name: FieldName }) {
  useLive((s) => s.flags);
  return lastChangedKnob()?.knob === name ? <BeforeAndAfter /> : null;
}

function BeforeAndAfter() {
  useLive((s) => s.metricsVersion);
  const index = useLive.getState().flags.length - 1;
  const { before, after, means } = beforeAndAfter(
    { changes: useLive.getState().flags, series: useLive.getState().series },
    index,
    SHOWN_METRICS,
  );
  const [success] = means;
  if (!success) return null;
  return (
    <p className="knob-note" data-testid="since-turned">
      From update {useLive.getState().flags[index]?.update}: success {shownText('rollout/success', success.before)} →{' '}
      {shownText('rollout/success', success.after)}, means of {before} before and {after} after.
    </p>
  );
}

export const BADGES: Readonly<Record<When, { readonly word: string; readonly doc: string }>> = {
  live: { word: 'at once', doc: 'Acts from the next optimizer step.' },
  next: { word: 'next batch', doc: 'Acts from the next rollout batch.' },
  restart: { word: 'after restart', doc: 'Acts after a restart.' },
};

export const Knob = memo(function Knob({ name }: { readonly name: FieldName }) {
  const field: Field = FIELDS[name];
  const popover = useId();
  const idleReason = useConfig((s) => whyIdle(name, s.wanted));
  const presetValue = useConfig((s) => presetConfig(s.preset)[name]);
  const changed = useConfig((s) => s.wanted[name] !== presetValue);
  const pending = useConfig(
    (s) => field.when === 'restart' && s.applied !== null && s.wanted[name] !== s.applied[name],
  );
  const isInProblem = useLive((s) => s.problem?.fields.includes(name) ?? false);
  const lit = useFormula((s) => s.litKnobs.includes(name));
  const badge = BADGES[field.when];
  const numeric = !('choices' in field);
  return (
    <div
      className="knob"
      data-knob={name}
      data-lit={lit}
      data-numeric={numeric}
      data-pending={pending}
      data-blamed={isInProblem}
      data-inert={idleReason !== null}
    >
      <span className="line soft knob-label gap-2 thin">
        {numeric ? <label htmlFor={`knob-${name}`}>{field.label}</label> : <span>{field.label}</span>}
        {changed && <span className="dot" title={`the preset has ${knobText(presetValue)}`} />}
        <span className="badge" data-when={field.when} title={`${badge.word}: ${badge.doc}`}>
          <Icon name={field.when} />
          <span className="visually-hidden">{badge.word}</span>
        </span>
        <button type="button" className="explain" popoverTarget={popover} aria-label={`What is ${field.label}?`}>
          ?
        </button>
        <FormulaButton name={name} label={field.label} />
      </span>
      {'choices' in field ? (
        <ChoiceKnob name={name} choices={field.choices} label={field.label} disabled={idleReason !== null} />
      ) : (
        <NumberKnob name={name} range={field} label={field.label} disabled={idleReason !== null} />
      )}
      {idleReason !== null && <p className="knob-note">No effect here: {idleReason}.</p>}
      {pending && <p className="knob-note">Changed; restart to apply.</p>}
      <SinceLastChange name={name} />
      <div id={popover} popover="auto" className="popover">
        <h3>{field.label}</h3>
        <p>{FIELD_DOCS[name]}</p>
        <p className="faint">
          <code translate="no">{name}</code> · {allowedText(field)} · default {knobText(field.default)} · {badge.doc}
        </p>
      </div>
    </div>
  );
});

/** A button that keeps the terms of a knob highlighted in the formula. Renders nothing if the knob acts on none. */
function FormulaButton({ name, label }: { readonly name: FieldName; readonly label: string }) {
  const acts = useConfig((s) => termsOf(name, s.wanted).length > 0);
  const pinned = useFormula((s) => sameTarget(s.pinned, { knob: name }));
  if (!acts) return null;
  return (
    <button
      type="button"
      className="explain in-formula"
      aria-pressed={pinned}
      aria-label={`Where ${label} acts in the formula`}
      title="Show where this knob acts in the formula"
      onClick={() => pinTarget({ knob: name })}
    >
      ƒ
    </button>
  );
}

const SEED_LIMIT = 100_000; // a new seed stays short enough to read out

interface Props {
  readonly name: FieldName;
  readonly range: KnobRange;
  readonly label: string;
  readonly disabled: boolean;
}

/** An impossible typed value stays in the box with the reason, and the run keeps the old value. */
function NumberKnob({ name, range, label, disabled }: Props) {
  const value = Number(useConfig((s) => s.wanted[name]));
  const [typed, setTyped] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const type = (text: string) => {
    setTyped(text);
    try {
      editKnobs({ [name]: parseField(name, text.trim()) });
      setProblem(null);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      setProblem(error.problems.map(({ what }) => what).join(' '));
    }
  };
  const discardTyped = () => {
    setTyped(null);
    setProblem(null);
  };
  const slide = (next: number) => {
    discardTyped();
    editKnobs({ [name]: next });
  };
  return (
    <>
      <input
        id={`knob-${name}`}
        className="knob-value"
        inputMode="decimal"
        autoComplete="off"
        spellCheck={false}
        value={typed ?? knobText(value)}
        disabled={disabled}
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : `problem-${name}`}
        onChange={(event) => type(event.target.value)}
        onBlur={() => problem === null && setTyped(null)}
        onKeyDown={(event) => event.key === 'Escape' && discardTyped()}
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

/** The slider of a number. Whole numbers on a linear scale go one by one, all others in even steps of their scale. */
function Slider({ value, range, label, disabled, slide }: SliderProps) {
  const isOneByOne = scaleOf(range) === 'linear' && range.integer;
  return (
    <input
      type="range"
      className="knob-slider"
      aria-label={`${label}, slider`}
      aria-valuetext={knobText(value)}
      disabled={disabled}
      min={isOneByOne ? range.min : 0}
      max={isOneByOne ? range.max : SLIDER_STEPS}
      step={1}
      value={isOneByOne ? value : sliderPosition(value, range)}
      onChange={(event) => {
        const position = Number(event.target.value);
        slide(isOneByOne ? position : valueAfterSlide(position, value, range));
      }}
    />
  );
}

interface ChoiceKnobProps {
  readonly name: FieldName;
  readonly choices: readonly string[];
  readonly label: string;
  readonly disabled: boolean;
}
const MAX_BUTTON_CHARACTERS = 17; // characters of all choices together that fit side by side

/** A choice among a few words: a switch, a row of buttons, or a menu if the buttons would not fit. */
function ChoiceKnob({ name, choices, label, disabled }: ChoiceKnobProps) {
  const value = String(useConfig((s) => s.wanted[name]));
  const ownName = useLive((s) => s.ownEnvironment);
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
        onClick={() => editKnobs({ [name]: on ? 'off' : 'on' })}
      >
        <span aria-hidden="true">{value}</span>
      </button>
    );
  }
  if (choices.join('').length <= MAX_BUTTON_CHARACTERS) {
    return (
      <div className="segments" role="group" aria-label={label}>
        {choices.map((choice) => (
          <button
            key={choice}
            type="button"
            aria-pressed={choice === value}
            disabled={disabled}
            onClick={() => editKnobs({ [name]: choice })}
          >
            {choice}
          </button>
        ))}
      </div>
    );
  }
  return (
    <select
      className="small knob-menu full"
      aria-label={label}
      value={value}
      disabled={disabled}
      onChange={(event) => editKnobs({ [name]: event.target.value })}
    >
      {[...new Set([...choices, value])].map((choice) => (
        <option key={choice} value={choice}>
          {choice === YOUR_ENVIRONMENT ? (ownName ?? choice) : choice}
        </option>
      ))}
    </select>
  );
}
