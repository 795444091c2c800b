import { useState, type ReactNode } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { FIELDS, type Field, type FieldName } from '../../config/config.ts';
import { presetConfig, useConfig } from './configStore.ts';
import { idle } from '../../config/idle.ts';
import { useFormula } from '../formula/formulaTarget.ts';
import { counted } from '../parts/countText.ts';
import { Knob } from './Knob.tsx';

/** A group of FIELDS. */
export type Group = Field['group'];
const NAMES = Object.keys(FIELDS) as FieldName[];
// switches that stay in sight: without effect they say why
const ALWAYS: readonly FieldName[] = ['lossMask', 'advantageMask'];

/** Groups that were opened or folded by hand: they stay so on the way through other screens. */
const opened = new Map<Group, boolean>();

interface Props {
  readonly group: Group;
  readonly title: string;
  readonly open?: boolean;
  readonly beside?: string; // its heading, while nothing is changed
  readonly above?: ReactNode; // its knobs, once it was opened
  readonly children?: ReactNode; // below the knobs
}

/** The knobs of one group, those without effect hidden until asked for. */
export function KnobGroup({ group, title, open = false, beside = '', above, children }: Props) {
  const [all, setAll] = useState(false);
  const unfolded = opened.get(group) ?? open;
  const [seen, setSeen] = useState(unfolded);
  const names = NAMES.filter((name) => FIELDS[name].group === group);
  const hidden = useConfig(
    useShallow((s) => names.filter((name) => !ALWAYS.includes(name) && idle(name, s.wanted) !== null)),
  );
  const changed = useConfig((s) => {
    const given = presetConfig(s.preset);
    return names.filter((name) => s.wanted[name] !== given[name]).length;
  });
  const lit = useFormula((s) => s.knobs.some((name) => FIELDS[name].group === group));
  const shown = all ? names : names.filter((name) => !hidden.includes(name));
  return (
    <details
      className="knob-group"
      data-group={group}
      data-lit={lit}
      open={unfolded}
      onToggle={({ currentTarget, target }) => {
        if (target !== currentTarget) return;
        setSeen(seen || currentTarget.open);
        if (currentTarget.open !== unfolded) opened.set(group, currentTarget.open);
      }}
    >
      <summary>
        <h2>{title}</h2>
        <span className="faint">{changed > 0 ? `${changed} changed` : beside}</span>
      </summary>
      {seen && above}
      {shown.map((name) => (
        <Knob key={name} name={name} />
      ))}
      {hidden.length > 0 && (
        <button type="button" className="quiet small more" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Hide' : 'Show'} {counted(hidden.length, 'knob')} without effect here
        </button>
      )}
      {children}
    </details>
  );
}
