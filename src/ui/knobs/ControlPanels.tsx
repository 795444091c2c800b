import { lazy, Suspense, useEffect, useRef, type RefObject, useState, useId, useMemo, type ReactNode } from 'react';
import { presetDoc } from '../../config/presetCards.ts';
import { useConfig, presetConfig, editKnobs } from '../../page/knobs/configStore.ts';
import { pendingRestart } from '../../page/knobs/pendingKnobs.ts';
import { useFactsOpen } from '../../page/training/factsStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { BADGES, Knob } from './Knob.tsx';
import { ChangedKnobs } from './ChangedKnobs.tsx';
import { sizesInWords } from '../../page/models/traineeText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { maskSentence, invariants, checkInvariant } from '../../page/words/maskSentence.ts';
import { ownMasks } from '../../config/masks.ts';
import { ALGORITHM_NAMES, ALGORITHMS, type AlgorithmName } from '../../config/algorithms.ts';
import { ALGORITHM_DOCS } from '../../config/fieldDocs.ts';
import { FIELDS, type Field, type FieldName } from '../../config/config.ts';
import { chooseAlgorithm, isCustom, lacksCritic, algorithmMatch } from '../../page/knobs/algorithm.ts';
import { start } from '../../page/training/engine.ts';
import { knobText } from '../../config/fields.ts';
import { useShallow } from 'zustand/react/shallow';
import { contradictions, warnings } from '../../config/contradictions.ts';
import { problemText } from '../../base/problem.ts';
import { whyIdle } from '../../config/idle.ts';
import { useFormula } from '../../page/training/formulaTarget.ts';
import { counted } from '../../page/words/numberText.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import './algorithm.css';

const FormulaDock = lazy(() => import('./FormulaDock.tsx').then((m) => ({ default: m.FormulaDock })));
const Trainee = lazy(() => import('./Trainee.tsx').then((m) => ({ default: m.Trainee })));
const FactsPanel = lazy(() => import('./FactsPanel.tsx').then((m) => ({ default: m.FactsPanel })));

const GROUPS: readonly { readonly group: Group; readonly title: string }[] = [
  { group: 'optimizer', title: 'Optimizer' },
  { group: 'objective', title: 'Objective' },
  { group: 'rollout', title: 'Rollouts' },
  { group: 'task', title: 'Task' },
  { group: 'model', title: 'Model' },
  { group: 'run', title: 'Run' },
];

/** The controls: algorithm and masks open, all other knobs of FIELDS in folded groups. */
export function ControlPanels() {
  const facts = useFactsOpen();
  const preset = useConfig((s) => s.preset);
  const sizes = useConfig((s) => sizesInWords(s.wanted));
  const scroll = useRef<HTMLDivElement>(null);
  useEffect(() => keepUnderPointer(scroll), []);
  return (
    <>
      <div className="controls-legend flex wrap">
        <span className="small soft">A changed knob takes effect</span>
        {Object.entries(BADGES).map(([when, { word, doc }]) => (
          <span key={when} className="badge" data-when={when} title={doc}>
            <Icon name={when as keyof typeof BADGES} /> {word}
          </span>
        ))}
        <ChangedKnobs />
      </div>
      <div className="controls-scroll fill scrolls" ref={scroll}>
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
            {...(entry.group === 'model' && { note: sizes, above: <TraineePanel /> })}
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

function TraineePanel() {
  return (
    <Suspense>
      <Trainee />
    </Suspense>
  );
}

const KNOB_SELECTOR = ':is([data-knob], [data-algorithm])';

/**
 * Keeps the knob being changed in its place in the window although its change adds or removes lines above it. Otherwise
 * the next press would hit something else. Returns a function that stops this.
 */
function keepUnderPointer(scroller: RefObject<HTMLElement | null>): () => void {
  return useConfig.subscribe((now, before) => {
    const box = scroller.current;
    if (!box || now.wanted === before.wanted) return;
    const knob = box.querySelector(`${KNOB_SELECTOR}:focus-within`) ?? box.querySelector(`${KNOB_SELECTOR}:hover`);
    if (!knob) return;
    const { top } = knob.getBoundingClientRect();
    // by then the layout has changed, but it isn't painted yet
    requestAnimationFrame(() => {
      box.scrollTop += knob.getBoundingClientRect().top - top;
    });
  });
}

const MaskDetails = lazy(() => import('./MaskDetails.tsx').then((m) => ({ default: m.MaskDetails })));

function MaskPanel() {
  const sentence = useConfig((s) => maskSentence(s.wanted));
  const overridden = useConfig((s) => ownMasks(s.wanted).length);
  const [wasOpened, setOpened] = useState(false);
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
          <MaskCheck />
          {overridden > 0 && <span className="faint">{overridden} overridden</span>}
        </summary>
        {wasOpened && (
          <Suspense>
            <MaskDetails />
          </Suspense>
        )}
      </details>
    </>
  );
}

function MaskCheck() {
  useLive((s) => s.metricsVersion);
  const { config, metrics } = useLive.getState();
  const measured = config && invariants(config).filter(({ metric }) => metrics[metric] !== undefined);
  if (!measured || measured.length === 0) return null;
  const brokenCount = measured.filter((each) => checkInvariant(each, metrics[each.metric] ?? 0) === 'broken').length;
  return (
    <span
      className="line end held-word"
      data-broken={brokenCount > 0}
      title="Checks of the masks on the last update; open for each one"
    >
      <Icon name={brokenCount > 0 ? 'alert' : 'check'} /> {brokenCount > 0 ? `${brokenCount} wrong` : 'checked'}
    </span>
  );
}

const CUSTOM = 'custom';

/** Shows the algorithm that the knobs make up. Choosing another sets all of its knobs. */
export function AlgorithmPanel() {
  const wanted = useConfig((s) => s.wanted);
  const { name, differingNames } = useMemo(() => algorithmMatch(wanted), [wanted]);
  const missingCritic = useConfig((s) => lacksCritic(s.wanted, s.applied));
  const id = useId();
  const { label } = ALGORITHMS[name];
  const custom = isCustom(differingNames);
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
      {differingNames.length > 0 && (
        <div className="row between soft algorithm-apart">
          <p>
            {custom ? `Closest to ${label}, except for` : `${label}, but with`}{' '}
            {differingNames.map((field) => `${FIELDS[field].label} ${knobText(wanted[field])}`).join(', ')}.
          </p>
          <button type="button" className="quiet" onClick={() => chooseAlgorithm(name)}>
            Set to {label}
          </button>
        </div>
      )}
      <p className="soft algorithm-doc">{ALGORITHM_DOCS[name]}</p>
      {missingCritic && (
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
      <TextList texts={problems} />
    </div>
  );
}

function Warnings() {
  const warningTexts = useConfig(useShallow((s) => warnings(s.wanted).map(problemText)));
  if (warningTexts.length === 0) return null;
  return (
    <div className="note" role="status" data-testid="warnings">
      <p>
        <Icon name="alert" /> This runs, but is rarely what you want:
      </p>
      <TextList texts={warningTexts} />
    </div>
  );
}

function TextList({ texts }: { readonly texts: readonly string[] }) {
  return (
    <ul>
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

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

type Group = Field['group'];
const NAMES = Object.keys(FIELDS) as FieldName[];
// shown even without effect, because they then say why
const ALWAYS_SHOWN: readonly FieldName[] = ['lossMask', 'advantageMask', 'observationLoss'];

/** Groups that the reader opened or folded. Kept while other screens are shown. */
const openGroups = new Map<Group, boolean>();

interface Props {
  readonly group: Group;
  readonly title: string;
  readonly open?: boolean;
  readonly note?: string; // text beside the heading, while no knob is changed
  readonly above?: ReactNode; // shown above the knobs, once the group was opened
  readonly children?: ReactNode; // below the knobs
}

/** The knobs of one group. Those without effect are hidden until the reader asks for them. */
function KnobGroup({ group, title, open = false, note = '', above, children }: Props) {
  const [showsAll, setAll] = useState(false);
  const isOpen = openGroups.get(group) ?? open;
  const [wasOpened, setWasOpened] = useState(isOpen);
  const names = NAMES.filter((name) => FIELDS[name].group === group);
  const hidden = useConfig(
    useShallow((s) => names.filter((name) => !ALWAYS_SHOWN.includes(name) && whyIdle(name, s.wanted) !== null)),
  );
  const changed = useConfig((s) => {
    const presetKnobs = presetConfig(s.preset);
    return names.filter((name) => s.wanted[name] !== presetKnobs[name]).length;
  });
  const lit = useFormula((s) => s.litKnobs.some((name) => FIELDS[name].group === group));
  const visibleNames = showsAll ? names : names.filter((name) => !hidden.includes(name));
  return (
    <details
      className="knob-group"
      data-group={group}
      data-lit={lit}
      open={isOpen}
      onToggle={({ currentTarget, target }) => {
        if (target !== currentTarget) return;
        setWasOpened(wasOpened || currentTarget.open);
        if (currentTarget.open !== isOpen) openGroups.set(group, currentTarget.open);
      }}
    >
      <summary>
        <h2>{title}</h2>
        <span className="faint">{changed > 0 ? `${changed} changed` : note}</span>
      </summary>
      {wasOpened && above}
      {visibleNames.map((name) => (
        <Knob key={name} name={name} />
      ))}
      {hidden.length > 0 && (
        <button type="button" className="quiet small more" aria-expanded={showsAll} onClick={() => setAll(!showsAll)}>
          {showsAll ? 'Hide' : 'Show'} {counted(hidden.length, 'knob')} without effect here
        </button>
      )}
      {children}
    </details>
  );
}

function PreferenceButton() {
  const hasRewardModel = useConfig((s) => s.wanted.rewardModel === 'on');
  return (
    <div className="row preference-door">
      <button type="button" className="quiet" onClick={() => useSelection.setState({ preferring: true })}>
        <Icon name="compare" /> Preferences and RLHF…
      </button>
      {!hasRewardModel && (
        <button type="button" className="quiet" onClick={() => editKnobs({ rewardModel: 'on', preferenceReward: 1 })}>
          {FIELDS.rewardModel.label} on
        </button>
      )}
    </div>
  );
}
