import { type ReactNode, useEffect, useRef, useState } from 'react';
import { parseDecimal } from '../../base/decimal.ts';
import { DEFAULTS, FIELDS, type Field, type FieldName, isFieldName, knobLabel, knobText } from '../../config/fields.ts';
import { download, fileName } from '../../page/browser/fileDownload.ts';
import { deleteOwn, replaceFile, useExperiments } from '../../page/experiments/experimentStore.ts';
import {
  changedFile,
  fileSettings,
  type OwnExperiment,
  valueArms,
  valuesOf,
} from '../../page/experiments/ownExperiment.ts';
import { fileHash } from '../../page/experiments/planAddress.ts';
import { suggestedValue } from '../../page/experiments/readyComparisons.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { pageAddress } from '../../page/share/sharedAddress.ts';

const VARIED_KNOBS = (Object.keys(FIELDS) as FieldName[]).filter((name) => name !== 'seed' && name !== 'backend');

interface FormProps {
  readonly name: string;
  readonly mine: OwnExperiment;
  readonly fields: ReactNode; // those that every experiment has
}

/** The form of an experiment of your own. What it says is the experiment's file. */
export function OwnForm({ name, mine, fields }: FormProps) {
  const problems = useExperiments((s) => s.corrections);
  const { label } = mine.plan.experiment;
  const change = (changes: object) => replaceFile(name, changedFile(mine, changes));
  const top = useRef<HTMLDivElement>(null);
  // it may have been made from further down; new browsers return a promise, which is no cleanup
  useEffect(() => {
    top.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <>
      <div ref={top}>
        <TypedText label="Name" value={label} onCommit={(text) => change({ label: text })} />
      </div>
      <KnobValues mine={mine} change={change} />
      {fields}
      <details>
        <summary>
          File <span className="faint">all settings, as JSON</span>
        </summary>
        <TypedText label="File" value={mine.text} lines={16} onCommit={(text) => replaceFile(name, text)} />
      </details>
      {problems.map((text) => (
        <p key={text} className="note bad" role="alert">
          {text}
        </p>
      ))}
      <OwnButtons name={name} mine={mine} change={change} />
    </>
  );
}

interface PartProps {
  readonly mine: OwnExperiment;
  readonly change: (changes: object) => void;
}

function KnobValues({ mine, change }: PartProps) {
  const varied = valuesOf(mine);
  if (!varied) return <p className="faint">Its variants differ in several knobs. You can change them in its file.</p>;
  const { knob, values } = varied;
  const { shared } = mine.plan.experiment;
  const onKnob = (next: string) => {
    if (isFieldName(next)) {
      const config = { ...DEFAULTS, ...shared };
      change({ arms: valueArms(next, [config[next], suggestedValue(next, config)]) });
    } else change({ arms: valueArms(null, []) });
  };
  return (
    <>
      <label className="line between field">
        Knob
        <select value={knob ?? ''} onChange={({ target }) => onKnob(target.value)}>
          <option value="">none</option>
          {VARIED_KNOBS.map((each) => (
            <option key={each} value={each}>
              {knobLabel(each)}
            </option>
          ))}
        </select>
      </label>
      {knob !== null && (
        <TypedText
          label="Values"
          value={values.map(knobText).join(', ')}
          onCommit={(text) => change({ arms: valueArms(knob, valuesIn(text, knob)) })}
        />
      )}
    </>
  );
}

/** The values in a text, separated by commas. What isn't a number stays as it is, and is refused with its place. */
function valuesIn(text: string, knob: FieldName): readonly (string | number)[] {
  const field: Field = FIELDS[knob];
  const parts = text.split(',').map((part) => part.trim());
  return parts.map((part) => ('choices' in field ? part : (parseDecimal(part) ?? part)));
}

function OwnButtons({ name, mine, change }: PartProps & { readonly name: string }) {
  const idle = useExperiments((s) => s.mode === 'idle');
  const [message, setMessage] = useState('');
  const { label } = mine.plan.experiment;
  const copyLink = async () => {
    const hash = fileHash(mine.text);
    try {
      if (hash !== null) await navigator.clipboard.writeText(`${pageAddress()}${hash}`);
      setMessage(hash === null ? 'Too long for a link. Download the file and send that.' : 'Copied.');
    } catch {
      setMessage('The browser blocks the clipboard. Copy this page’s address: it is the link.');
    }
  };
  return (
    <div className="row">
      <button
        type="button"
        title="npm run experiment -- FILE trains it on the command line"
        onClick={() => download(fileName(label, 'json'), 'application/json', mine.text)}
      >
        Download file
      </button>
      <button type="button" onClick={() => void copyLink()}>
        Copy link
      </button>
      {valuesOf(mine) && (
        <button type="button" onClick={() => change(fileSettings(useConfig.getState().wanted))}>
          Take the lab’s settings
        </button>
      )}
      <button type="button" className="quiet" disabled={!idle} onClick={() => deleteOwn(name)}>
        Delete
      </button>
      <span className="faint" role="status">
        {message}
      </span>
    </div>
  );
}

interface TypedTextProps {
  readonly label: string;
  readonly value: string;
  readonly lines?: number; // 1 if absent
  readonly onCommit: (text: string) => void;
}

/** A text that counts when the field is left, or at Enter. What was refused stays in the field. */
function TypedText({ label, value, lines = 1, onCommit }: TypedTextProps) {
  const commit = (text: string) => {
    if (text !== value) onCommit(text);
  };
  if (lines > 1)
    return <textarea key={value} aria-label={label} rows={lines} spellCheck={false} defaultValue={value} onBlur={(event) => commit(event.target.value)} />; // prettier-ignore
  return (
    <label className="stack">
      {label}
      <input
        key={value}
        type="text"
        defaultValue={value}
        onBlur={(event) => commit(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && commit(event.currentTarget.value)}
      />
    </label>
  );
}
