import { memo, useId } from 'react';
import { FIELD_DOCS } from '../../config/fieldDocs.ts';
import { allowed, FIELDS, type Field, type FieldName, type When } from '../../config/fields.ts';
import { termsOf } from '../../config/formulaLinks.ts';
import { pin, sameTarget, useFormula } from '../formula/formulaTarget.ts';
import { presetConfig, useConfig } from './configStore.ts';
import { knobText } from '../../config/knobText.ts';
import { idle } from '../../config/idle.ts';
import { useLive, live } from '../run/liveStore.ts';
import { ChoiceKnob } from './ChoiceKnob.tsx';
import { Icon } from '../parts/Icon.tsx';
import { NumberKnob } from './NumberKnob.tsx';
import { beforeAndAfter } from '../../runs/beforeAndAfter.ts';
import { lastChangedKnob } from '../run/lastChangedKnob.ts';
import { shownText } from '../run/metricText.ts';

const TOLD = ['rollout/success'] as const;

/** Under the knob that was turned last in a run: what success was right before and right after. It claims no cause. */
function SinceTurned({ name }: { readonly name: FieldName }) {
  useLive((s) => s.flagsVersion);
  return lastChangedKnob()?.knob === name ? <Around /> : null;
}

function Around() {
  useLive((s) => s.metricsVersion);
  const index = live.flags.length - 1;
  const { before, after, means } = beforeAndAfter({ changes: live.flags, series: live.series }, index, TOLD);
  const [success] = means;
  if (!success) return null;
  return (
    <p className="knob-note" data-testid="since-turned">
      From update {live.flags[index]?.update}: success {shownText('rollout/success', success.before)} →{' '}
      {shownText('rollout/success', success.after)}, means of {before} before and {after} after.
    </p>
  );
}

/** When a change acts, in a word and a sentence. */
export const BADGES: Readonly<Record<When, { readonly word: string; readonly doc: string }>> = {
  live: { word: 'live', doc: 'Acts from the next optimizer step.' },
  next: { word: 'next batch', doc: 'Acts from the next rollout batch.' },
  restart: { word: 'restart', doc: 'Acts after a restart.' },
};

/** One knob of FIELDS: label, when it acts, explanation, control. */
export const Knob = memo(function Knob({ name }: { readonly name: FieldName }) {
  const field: Field = FIELDS[name];
  const popover = useId();
  const why = useConfig((s) => idle(name, s.wanted));
  const given = useConfig((s) => presetConfig(s.preset)[name]);
  const changed = useConfig((s) => s.wanted[name] !== given);
  const pending = useConfig(
    (s) => field.when === 'restart' && s.applied !== null && s.wanted[name] !== s.applied[name],
  );
  const blamed = useLive((s) => s.problem?.fields.includes(name) ?? false);
  const lit = useFormula((s) => s.knobs.includes(name));
  const badge = BADGES[field.when];
  const numeric = !('choices' in field);
  return (
    <div
      className="knob"
      data-knob={name}
      data-lit={lit}
      data-numeric={numeric}
      data-pending={pending}
      data-blamed={blamed}
      data-inert={why !== null}
    >
      <span className="line soft knob-label">
        {numeric ? <label htmlFor={`knob-${name}`}>{field.label}</label> : <span>{field.label}</span>}
        {changed && <span className="dot" title={`the preset has ${knobText(given)}`} />}
        <span className="badge" data-when={field.when} title={`${badge.word}: ${badge.doc}`}>
          <Icon name={field.when} />
          <span className="visually-hidden">{badge.word}</span>
        </span>
        <button type="button" className="explain" popoverTarget={popover} aria-label={`What is ${field.label}?`}>
          ?
        </button>
        <InFormula name={name} label={field.label} />
      </span>
      {'choices' in field ? (
        <ChoiceKnob name={name} choices={field.choices} label={field.label} disabled={why !== null} />
      ) : (
        <NumberKnob name={name} range={field} label={field.label} disabled={why !== null} />
      )}
      {why !== null && <p className="knob-note">No effect here: {why}.</p>}
      {pending && <p className="knob-note">Changed; restart to apply.</p>}
      <SinceTurned name={name} />
      <div id={popover} popover="auto" className="popover">
        <h3>{field.label}</h3>
        <p>{FIELD_DOCS[name]}</p>
        <p className="faint">
          <code>{name}</code> · {allowed(field)} · default {knobText(field.default)} · {badge.doc}
        </p>
      </div>
    </div>
  );
});

/** Holds the terms of the formula lit that a knob acts on; nothing where it acts on none. */
function InFormula({ name, label }: { readonly name: FieldName; readonly label: string }) {
  const acts = useConfig((s) => termsOf(name, s.wanted).length > 0);
  const pinned = useFormula((s) => sameTarget(s.pinned, { knob: name }));
  if (!acts) return null;
  return (
    <button
      type="button"
      className="explain in-formula"
      aria-pressed={pinned}
      aria-label={`Where ${label} acts in the formula`}
      onClick={() => pin({ knob: name })}
    >
      ƒ
    </button>
  );
}
