import { create } from 'zustand';
import { ALGORITHM_FIELDS } from '../../config/algorithms.ts';
import { isFieldName, type FieldName, type RunConfig } from '../../config/fields.ts';
import { knobsOf, termsOf } from '../../config/formulaLinks.ts';
import { TERM_LIST, type TermId } from '../../config/formulaTerms.ts';
import { differences, useConfig } from '../knobs/configStore.ts';
import { holdPreview, isKeyed, endPreview } from '../rollout/previewStore.ts';
import { live, useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { touchedByAny } from './touchedTokens.ts';
import { type Target, previewKnobs } from './previewKnobs.ts';
import { BREAKPOINTS } from '../parts/breakpoints.ts';

interface FormulaState {
  /** The target under the pointer; without one, the pinned target; without one, the target changed last. */
  readonly target: Target | null;
  readonly pinned: Target | null;
  readonly turned: boolean; // whether the effect of a changed knob is previewed
  readonly terms: readonly TermId[]; // the lit terms
  readonly knobs: readonly FieldName[]; // the knobs that a term lights
  readonly open: boolean; // whether the formula is shown
}

/** The lit terms and knobs of the formula, and the target that lights them. */
export const useFormula = create<FormulaState>()(() => ({
  ...{ target: null, pinned: null, turned: false, terms: [], knobs: [] },
  // closed in smaller windows, where it would take half of the space for the knobs
  open: matchMedia(BREAKPOINTS.desk).matches && !matchMedia(BREAKPOINTS.lowDesk).matches,
}));

const LINGER_MS = 250; // a pointer that rests shorter than this is ignored

let pointed: Target | null = null;
// the target changed last by hand; its preview stays until it is released or can't be computed any more
let turned: Target | null = null;
let flips = false; // the pointer is on a switch that wasn't pressed yet, so the preview shows its opposite state
// the switch pressed last, until the pointer moves to another target; its preview shows its current state
let pressed: Target | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Pins a target, so that it stays lit when the pointer leaves, and shows the formula. A second call unpins it. */
export function pin(target: Target): void {
  const { pinned, open } = useFormula.getState();
  const unpins = sameTarget(pinned, target);
  useFormula.setState({ pinned: unpins ? null : target, open: open || !unpins });
  if (unpins) pointed = null; // on a touch screen no pointer event would clear it
  light();
  if (open || unpins || !('knob' in target)) return;
  // the formula that opened may cover the knob
  requestAnimationFrame(() => {
    document.querySelector(`[data-knob="${target.knob}"]`)?.scrollIntoView({ block: 'nearest' });
  });
}

/** Ends the preview of a changed or pinned knob. The knob keeps its value. */
export function release(): void {
  turned = null;
  useFormula.setState({ pinned: null });
  light();
}

/** Whether two targets are equal. */
export function sameTarget(a: Target | null, b: Target | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * Lights the terms, knobs and tokens of the current target. If its knob was changed, previews the change on the batch
 * on screen.
 */
function light(): void {
  const { pinned } = useFormula.getState();
  const { wanted } = useConfig.getState();
  const lights = (each: Target) => ('term' in each ? [each.term] : actingTerms(each, wanted));
  if (turned && !changesOf(turned, wanted)) turned = null;
  const target = [pointed, pinned, turned].find((each) => each !== null && lights(each).length > 0) ?? null;
  const terms = target ? lights(target) : [];
  const knobs = target !== null && 'term' in target ? knobsOf(target.term, wanted) : [];
  useFormula.setState({ target: terms.length > 0 ? target : null, turned: turned !== null, terms, knobs });
  lightTokens();
  clearTimeout(timer);
  if (isKeyed()) return;
  const changes = target && changesOf(target, wanted);
  if (changes) timer = setTimeout(() => void holdPreview(changes), LINGER_MS);
  else endPreview();
}

function lightTokens(): void {
  const { terms } = useFormula.getState();
  const { preview, row, lit } = useSelection.getState();
  if (terms.length === 0) {
    if (lit) useSelection.setState({ lit: null });
    return;
  }
  // a preview may have other masks, but clipped tokens come from the update that was trained
  const { advantages, passes, policyWeights } = live.batch;
  const turned = preview?.of === live.batch && {
    ...preview.batch,
    advantages,
    policyWeights,
    ...(passes && { passes }),
  };
  const batch = turned || live.batch;
  const sets = terms.map((term) => TERM_LIST[term].tokens);
  const scene = { batch, config: useConfig.getState().wanted, row };
  useSelection.setState({ lit: { marks: touchedByAny(scene, sets), group: sets.includes('group') } });
}

/** The terms that a knob acts on. For an algorithm: the terms of its estimator and of its changed knobs. */
function actingTerms(target: Exclude<Target, { readonly term: TermId }>, wanted: RunConfig): readonly TermId[] {
  if ('knob' in target) return termsOf(target.knob, wanted);
  const names = Object.keys(changesOf(target, wanted) ?? {}) as FieldName[];
  return [...new Set(['estimator' as const, ...names].flatMap((name) => termsOf(name, wanted)))];
}

/** The changed knobs of a target that are previewed; null if none differs. */
function changesOf(target: Target, wanted: RunConfig): Partial<RunConfig> | null {
  const flipped = flips && pointed !== null && 'knob' in pointed ? pointed.knob : null;
  return previewKnobs(target, { wanted, config: live.batchConfig, flipped });
}

function targetAt(at: EventTarget | null): Target | null {
  if (!(at instanceof Element)) return null;
  const term = at.closest<HTMLElement>('[data-term]')?.dataset['term'];
  if (term !== undefined && Object.hasOwn(TERM_LIST, term)) return { term: term as TermId };
  if (at.closest('[data-algorithm]')) return { algorithm: true };
  const knob = at.closest<HTMLElement>('[data-knob]')?.dataset['knob'];
  return knob !== undefined && isFieldName(knob) ? { knob } : null;
}

function isSwitch(at: EventTarget | null): boolean {
  return at instanceof Element && at.closest('[data-knob] [role="switch"]') !== null;
}

function point(at: EventTarget | null): void {
  const target = targetAt(at);
  if (!sameTarget(target, pressed)) pressed = null;
  const flipping = isSwitch(at) && pressed === null;
  if (sameTarget(target, pointed) && flipping === flips) return;
  pointed = target;
  flips = flipping;
  light();
}

/** The control that is typed into or dragged. It stays the target while the pointer moves over the rollout. */
function heldByFocus(): Element | null {
  const active = document.activeElement;
  return active?.matches(':is([data-knob], [data-algorithm]) :is(input, select)') ? active : null;
}

/** The target that changed between two configurations: a knob, or an algorithm if several knobs changed. */
function turnedBy(now: RunConfig, before: RunConfig): Target | null {
  const names = differences(now, before);
  const [only] = names;
  if (only === undefined) return null;
  if (names.length === 1) return { knob: only };
  return names.every((name) => name === 'critic' || ALGORITHM_FIELDS.some((each) => each === name))
    ? { algorithm: true }
    : null;
}

/** Lights terms and knobs as pointer or focus moves over them. Returns a function that removes the listeners. */
export function bindPointing(): () => void {
  const onOver = (event: Event) => {
    const focused = heldByFocus();
    // the page scrolled under a pointer that didn't move
    if (focused && event instanceof MouseEvent && event.movementX === 0 && event.movementY === 0) return;
    point(targetAt(event.target) ? event.target : focused);
  };
  const onFocus = ({ target }: Event) => {
    if (target instanceof Element && targetAt(target) && target.matches(':focus-visible')) point(target);
  };
  const onOut = ({ target }: Event) => {
    if (targetAt(target)) point(null);
  };
  const onClick = ({ target }: Event) => {
    if (!isSwitch(target)) return;
    flips = false; // after the press, the previewed value is the value
    pressed = targetAt(target); // the switch moves under the pointer; this must not count as pointing at it again
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
    useConfig.subscribe((now, before) => {
      if (now.wanted === before.wanted) return;
      turned = now.lastEdit === null ? turnedBy(now.wanted, before.wanted) : { knob: now.lastEdit };
      // the changed knob isn't under the pointer: show its effect
      if (turned && !sameTarget(turned, pointed)) pointed = null;
      light();
    }),
    useLive.subscribe((now, before) => {
      // training continues, so show the next batches
      if (now.running && !before.running) turned = null;
      if (now.batchVersion !== before.batchVersion || now.running !== before.running) light();
    }),
    useSelection.subscribe((now, before) => {
      if (now.row !== before.row || now.preview !== before.preview) lightTokens();
    }),
  ];
  return () => {
    for (const [type, listener] of listeners) removeEventListener(type, listener);
    for (const stop of stops) stop();
    useFormula.setState({ pinned: null });
    [pointed, turned, pressed] = [null, null, null];
    light();
  };
}
