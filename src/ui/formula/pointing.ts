import { create } from 'zustand';
import { isFieldName, type FieldName, type RunConfig } from '../../config/fields.ts';
import { knobsOf, termsOf } from '../../config/formulaLinks.ts';
import { TERM_LIST, type TermId } from '../../config/formulaTerms.ts';
import { CREDIT_KNOBS, OBJECTIVE_KNOBS } from '../../config/objectiveKnobs.ts';
import { useConfig } from '../knobs/configStore.ts';
import { holdGhost, isKeyed, letGo } from '../rollout/ghost.ts';
import { live, useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { touchedByAny } from './touched.ts';

/** What is pointed at: a knob, or a term of the formula. */
export type Target = { readonly knob: FieldName } | { readonly term: TermId };

interface FormulaState {
  readonly target: Target | null; // pointed at, else what is pinned
  readonly pinned: Target | null;
  readonly terms: readonly TermId[]; // lit
  readonly knobs: readonly FieldName[]; // lit by a term
  readonly open: boolean; // the formula is in sight
}

/** Where it is in sight before anyone asks: on a phone it would take half of the knobs' room. */
const ROOMY = '(min-width: 861px) and (min-height: 760px)';

/** What of the formula is lit, and by whom. */
export const useFormula = create<FormulaState>()(() => ({
  ...{ target: null, pinned: null, terms: [], knobs: [] },
  open: matchMedia(ROOMY).matches,
}));

/** The knobs that can be tried on what was recorded; others take rollouts that were never drawn. */
export const CAN_TRY: ReadonlySet<FieldName> = new Set([...OBJECTIVE_KNOBS, ...CREDIT_KNOBS, 'groupSize']);

const LINGER_MS = 250; // a pointer that only passes by asks for nothing

let pointed: Target | null = null;
let flips = false; // a switch is pointed at and not pressed yet: what it would do is shown before it is turned
let timer: ReturnType<typeof setTimeout> | undefined;

/** Pins a target, so that it stays lit when nothing is pointed at, and shows the formula; pinned once more it is let go. */
export function pin(target: Target): void {
  const { pinned, open } = useFormula.getState();
  const again = sameTarget(pinned, target);
  useFormula.setState({ pinned: again ? null : target, open: open || !again });
  if (again) pointed = null; // a finger leaves no pointer behind that goes away by itself
  light();
  if (open || again || !('knob' in target)) return;
  // what has opened may lie over the knob
  requestAnimationFrame(() => {
    document.querySelector(`[data-knob="${target.knob}"]`)?.scrollIntoView({ block: 'nearest' });
  });
}

/** Whether two targets are one. */
export function sameTarget(a: Target | null, b: Target | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Lights terms, knobs and tokens of what is pointed at or pinned, and tries the knob on the batch in view where it is turned. */
function light(): void {
  const { pinned } = useFormula.getState();
  const { wanted } = useConfig.getState();
  const lights = (each: Target | null) =>
    each === null ? [] : 'knob' in each ? termsOf(each.knob, wanted) : [each.term];
  const target = lights(pointed).length > 0 ? pointed : pinned;
  const terms = lights(target);
  const knobs = target !== null && 'term' in target ? knobsOf(target.term, wanted) : [];
  useFormula.setState({ target: terms.length > 0 ? target : null, terms, knobs });
  lightTokens();
  clearTimeout(timer);
  if (isKeyed()) return;
  const tried = target !== null && terms.length > 0 && 'knob' in target && CAN_TRY.has(target.knob);
  const changes = tried ? changesOf(target.knob, wanted) : null;
  if (changes) timer = setTimeout(() => void holdGhost(changes), LINGER_MS);
  else letGo();
}

function lightTokens(): void {
  const { terms } = useFormula.getState();
  const { ghost, row, lit } = useSelection.getState();
  if (terms.length === 0) {
    if (lit) useSelection.setState({ lit: null });
    return;
  }
  const batch = ghost?.of === live.batch ? ghost.batch : live.batch;
  const sets = terms.map((term) => TERM_LIST[term].tokens);
  const scene = { batch, config: useConfig.getState().wanted, row };
  useSelection.setState({ lit: { marks: touchedByAny(scene, sets), group: sets.includes('group') } });
}

/** The knob as it stands, where the batch in view was made under another setting; a switch that is pointed at, turned. */
function changesOf(knob: FieldName, wanted: RunConfig): Partial<RunConfig> | null {
  const { batchConfig: config } = live;
  // without a configuration what is asked is refused with the reason
  if (config && wanted[knob] !== config[knob]) return { [knob]: wanted[knob] };
  const had = (config ?? wanted)[knob];
  return flips && (had === 'on' || had === 'off') ? { [knob]: had === 'on' ? 'off' : 'on' } : null;
}

function targetAt(at: EventTarget | null): Target | null {
  if (!(at instanceof Element)) return null;
  const term = at.closest<HTMLElement>('[data-term]')?.dataset['term'];
  if (term !== undefined && Object.hasOwn(TERM_LIST, term)) return { term: term as TermId };
  const knob = at.closest<HTMLElement>('[data-knob]')?.dataset['knob'];
  return knob !== undefined && isFieldName(knob) ? { knob } : null;
}

function isSwitch(at: EventTarget | null): boolean {
  return at instanceof Element && at.closest('[data-knob] [role="switch"]') !== null;
}

function point(at: EventTarget | null): void {
  const target = targetAt(at);
  const flipping = isSwitch(at);
  if (sameTarget(target, pointed) && flipping === flips) return;
  pointed = target;
  flips = flipping;
  light();
}

/** What is typed into or dragged stays pointed at wherever the pointer goes: the rollout is to be looked at meanwhile. */
function heldByFocus(): Element | null {
  const active = document.activeElement;
  return active?.matches('[data-knob] :is(input, select)') ? active : null;
}

/** Follows pointer and focus over knobs and terms, and what they are of. Returns a function that stops. */
export function bindPointing(): () => void {
  const onOver = (event: Event) => {
    const held = heldByFocus();
    // what scrolled under a pointer that rests was not pointed at
    if (held && event instanceof MouseEvent && event.movementX === 0 && event.movementY === 0) return;
    point(targetAt(event.target) ? event.target : held);
  };
  const onFocus = ({ target }: Event) => {
    if (target instanceof Element && targetAt(target) && target.matches(':focus-visible')) point(target);
  };
  const onOut = ({ target }: Event) => {
    if (targetAt(target)) point(null);
  };
  const onClick = ({ target }: Event) => {
    if (!isSwitch(target)) return;
    flips = false; // what was tried has become a choice
    light();
  };
  const onBlur = () => point(null);
  const listeners = [
    ['mouseover', onOver],
    ['focusin', onFocus],
    ['focusout', onOut],
    ['click', onClick],
    ['blur', onBlur],
  ] as const;
  for (const [type, listener] of listeners) addEventListener(type, listener);
  const stops = [
    useConfig.subscribe((now, before) => now.wanted !== before.wanted && light()),
    useLive.subscribe((now, before) => now.batchVersion !== before.batchVersion && light()),
    useSelection.subscribe((now, before) => {
      if (now.row !== before.row || now.ghost !== before.ghost) lightTokens();
    }),
  ];
  return () => {
    for (const [type, listener] of listeners) removeEventListener(type, listener);
    for (const stop of stops) stop();
    useFormula.setState({ pinned: null });
    point(null);
  };
}
