import { lazy, Suspense, useEffect, useRef, type RefObject, useState, useId, useMemo, type ReactNode } from 'react';
import { presetDoc } from '../../config/presetCards.ts';
import { useConfig, presetConfig } from './configStore.ts';
import { useFactsOpen } from './factsStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { BADGES, Knob } from './Knob.tsx';
import { ChangedKnobs } from './ChangedKnobs.tsx';
import { sizesInWords } from '../models/trainee.ts';
import { PreferenceButton } from '../preferences/PreferenceButton.tsx';
import '../styles/algorithm.css';
import { live, useLive } from '../run/liveStore.ts';
import { maskSentence } from './maskSentence.ts';
import { overrides } from '../../config/masks.ts';
import { invariants, judge } from './maskChecks.ts';
import { ALGORITHM_NAMES, ALGORITHMS, type AlgorithmName } from '../../config/algorithms.ts';
import { FIELDS, type Field, type FieldName } from '../../config/config.ts';
import { chooseAlgorithm, isCustom, lacksCritic, algorithmMatch } from './algorithm.ts';
import { start } from '../run/engine.ts';
import { knobText } from '../../config/knobText.ts';
import { useShallow } from 'zustand/react/shallow';
import { contradictions, warnings } from '../../config/contradictions.ts';
import { problemText } from '../../base/problem.ts';
import { pendingRestart } from '../run/pendingKnobs.ts';
import { idle } from '../../config/idle.ts';
import { useFormula } from '../formula/formulaTarget.ts';
import { counted } from '../parts/numberText.ts';

const FormulaDock = lazy(() => import('../formula/FormulaDock.tsx').then((m) => ({ default: m.FormulaDock })));
const Trainee = lazy(() => import('../models/Trainee.tsx').then((m) => ({ default: m.Trainee })));
const FactsPanel = lazy(() => import('./FactsPanel.tsx').then((m) => ({ default: m.FactsPanel })));

const GROUPS: readonly { readonly group: Group; readonly title: string }[] = [
  { group: 'optimizer', title: 'Optimizer' },
  { group: 'objective', title: 'Objective' },
  { group: 'rollout', title: 'Rollouts' },
  { group: 'task', title: 'Task' },
  { group: 'model', title: 'Model' },
  { group: 'run', title: 'Run' },
];

/** Algorithm and masks in sight, every other knob of FIELDS a click away. */
export function ControlPanels() {
  const facts = useFactsOpen();
  const preset = useConfig((s) => s.preset);
  const sizes = useConfig((s) => sizesInWords(s.wanted));
  const scroll = useRef<HTMLDivElement>(null);
  useEffect(() => keepUnderPointer(scroll), []);
  return (
    <>
      <div className="controls-legend">
        <span className="small soft">A changed knob takes effect</span>
        {Object.entries(BADGES).map(([when, { word, doc }]) => (
          <span key={when} className="badge" data-when={when} title={doc}>
            <Icon name={when as keyof typeof BADGES} /> {word}
          </span>
        ))}
        <ChangedKnobs />
      </div>
      <div className="controls-scroll" ref={scroll}>
        <p className="soft preset-doc">{presetDoc(preset)}</p>
        <ControlNotes />
        <AlgorithmPanel />
        <KnobGroup group="masks" title="Masks" open>
          <MaskPanel />
        </KnobGroup>
        <KnobGroup group="reward" title="Rewards">
          <PreferenceButton />
        </KnobGroup>
        {GROUPS.map((entry) => (
          <KnobGroup
            key={entry.group}
            {...entry}
            open={entry.group === 'task' && facts}
            {...(entry.group === 'model' && { beside: sizes, above: <WhatTrains /> })}
          >
            {entry.group === 'task' && (
              <>
                <a className="write-own" href="#/environment">
                  Write your own environment…
                </a>
                <Suspense>
                  <FactsPanel />
                </Suspense>
              </>
            )}
          </KnobGroup>
        ))}
      </div>
      <Suspense fallback={<div className="formula-dock" />}>
        <FormulaDock />
      </Suspense>
      <RestartBar />
    </>
  );
}

function WhatTrains() {
  return (
    <Suspense>
      <Trainee />
    </Suspense>
  );
}

const AT = ':is([data-knob], [data-algorithm])';

/**
 * Keeps the knob that is being turned where it is in the window, whatever lines its change puts above it or takes away: the next
 * press would be on something else. Returns a function that stops.
 */
function keepUnderPointer(scroller: RefObject<HTMLElement | null>): () => void {
  return useConfig.subscribe((now, before) => {
    const box = scroller.current;
    if (!box || now.wanted === before.wanted) return;
    const knob = box.querySelector(`${AT}:focus-within`) ?? box.querySelector(`${AT}:hover`);
    if (!knob) return;
    const { top } = knob.getBoundingClientRect();
    // what the change adds is drawn by then, and nothing of it painted
    requestAnimationFrame(() => {
      box.scrollTop += knob.getBoundingClientRect().top - top;
    });
  });
}

const MaskDetails = lazy(() => import('./MaskDetails.tsx').then((m) => ({ default: m.MaskDetails })));

/** What the switches mean together, and behind a click: the four cells, what was counted, the six places. */
function MaskPanel() {
  const sentence = useConfig((s) => maskSentence(s.wanted));
  const overridden = useConfig((s) => overrides(s.wanted).length);
  const [opened, setOpened] = useState(false);
  return (
    <>
      <p className="quote mask-sentence" aria-live="polite" data-testid="mask-sentence">
        {sentence}
      </p>
      <details
        className="subgroup"
        data-testid="mask-details"
        onToggle={(event) => {
          if (event.currentTarget.open) setOpened(true);
        }}
      >
        <summary>
          <h3>What the masks do</h3>
          <Held />
          {overridden > 0 && <span className="faint">{overridden} overridden</span>}
        </summary>
        {opened && (
          <Suspense>
            <MaskDetails />
          </Suspense>
        )}
      </details>
    </>
  );
}

/** Whether the checks of the masks passed on the last update. */
function Held() {
  useLive((s) => s.metricsVersion);
  const { config, metrics } = live;
  const measured = config && invariants(config).filter(({ metric }) => metrics[metric] !== undefined);
  if (!measured || measured.length === 0) return null;
  const broken = measured.filter((each) => judge(each, metrics[each.metric] ?? 0) === 'broken').length;
  return (
    <span
      className="line end held-word"
      data-broken={broken > 0}
      title="Checks of the masks on the last update; open for each one"
    >
      <Icon name={broken > 0 ? 'alert' : 'check'} /> {broken > 0 ? `${broken} wrong` : 'checked'}
    </span>
  );
}

const CUSTOM = 'custom';

/** Names the algorithm the knobs make up, and sets all of them to another. */
export function AlgorithmPanel() {
  const wanted = useConfig((s) => s.wanted);
  const { name, apart } = useMemo(() => algorithmMatch(wanted), [wanted]);
  const bare = useConfig((s) => lacksCritic(s.wanted, s.applied));
  const id = useId();
  const { label, doc } = ALGORITHMS[name];
  const custom = isCustom(apart);
  const choose = (value: string) => {
    if (value !== CUSTOM) chooseAlgorithm(value as AlgorithmName);
  };
  return (
    <div className="algorithm" data-testid="algorithm" data-algorithm="">
      <div className="row algorithm-row">
        <h2>
          <label htmlFor={id}>Algorithm</label>
        </h2>
        <select id={id} value={custom ? CUSTOM : name} onChange={(event) => choose(event.target.value)}>
          {custom && <option value={CUSTOM}>custom</option>}
          {ALGORITHM_NAMES.map((each) => (
            <option key={each} value={each}>
              {ALGORITHMS[each].label}
            </option>
          ))}
        </select>
      </div>
      {apart.length > 0 && (
        <div className="row between soft algorithm-apart">
          <p>
            {custom ? `Closest to ${label}, except for` : `${label}, but with`}{' '}
            {apart.map((field) => `${FIELDS[field].label} ${knobText(wanted[field])}`).join(', ')}.
          </p>
          <button type="button" className="quiet" onClick={() => chooseAlgorithm(name)}>
            Set to {label}
          </button>
        </div>
      )}
      <p className="soft algorithm-doc">{doc}</p>
      {bare && (
        <div className="note">
          <p>{label} needs a critic, and this run has none. The run continues unchanged until a restart.</p>
          <button type="button" onClick={() => start(useLive.getState().running)}>
            <Icon name="restart" /> Restart with a critic
          </button>
        </div>
      )}
    </div>
  );
}

/** What is wrong or odd about the knobs as they stand. */
function ControlNotes() {
  return (
    <>
      <Contradictions />
      <Warnings />
    </>
  );
}

function Contradictions() {
  const problems = useConfig(useShallow((s) => contradictions(s.wanted).map(problemText)));
  if (problems.length === 0) return null;
  return (
    <div className="note bad" role="alert">
      <p>These knobs contradict each other:</p>
      <List texts={problems} />
    </div>
  );
}

function Warnings() {
  const found = useConfig(useShallow((s) => warnings(s.wanted).map(problemText)));
  if (found.length === 0) return null;
  return (
    <div className="note" role="status" data-testid="warnings">
      <p>
        <Icon name="alert" /> This runs, but is rarely what you want:
      </p>
      <List texts={found} />
    </div>
  );
}

function List({ texts }: { readonly texts: readonly string[] }) {
  return (
    <ul>
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

/** Offers the restart that changed knobs wait for. */
function RestartBar() {
  const names = useConfig(useShallow((s) => pendingRestart(s.wanted, s.applied)));
  const impossible = useConfig((s) => contradictions(s.wanted).length > 0);
  if (names.length === 0) return null;
  const labels = names.map((name) => FIELDS[name].label).join(', ');
  return (
    <div className="restart-bar">
      <p>
        Changed: <b>{labels}</b>
      </p>
      <button type="button" className="primary" disabled={impossible} onClick={() => start(useLive.getState().running)}>
        <Icon name="restart" /> Restart to apply
      </button>
    </div>
  );
}

/** A group of FIELDS. */
type Group = Field['group'];
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
function KnobGroup({ group, title, open = false, beside = '', above, children }: Props) {
  const [all, setAll] = useState(false);
  const unfolded = opened.get(group) ?? open;
  const [seen, setSeen] = useState(unfolded);
  const names = NAMES.filter((name) => FIELDS[name].group === group);
  const hidden = useConfig(
    useShallow((s) => names.filter((name) => !ALWAYS.includes(name) && idle(name, s.wanted) !== null)),
  );
  const changed = useConfig((s) => {
    const presetKnobs = presetConfig(s.preset);
    return names.filter((name) => s.wanted[name] !== presetKnobs[name]).length;
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
