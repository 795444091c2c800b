import { create } from 'zustand';
import { ALGORITHM_FIELDS } from '../../config/algorithms.ts';
import { isFieldName, type FieldName, type RunConfig } from '../../config/fields.ts';
import { knobsOf, termsOf } from '../../config/formulaLinks.ts';
import { TERM_LIST, type TermId } from '../../config/formulaTerms.ts';
import { knobDifferences, useConfig } from '../knobs/configStore.ts';
import { showPreview, isPreviewKeyDown, endPreview } from './previewStore.ts';
import { useLive } from '../view/liveStore.ts';
import { useSelection } from '../view/selectionStore.ts';
import { combinedMarks } from '../rollout/touchedTokens.ts';
import { type FormulaTarget, previewKnobs } from '../knobs/previewKnobs.ts';
import { BREAKPOINTS } from '../browser/breakpoints.ts';

interface FormulaState {
  /** The target under the pointer; without one, the pinned target; without one, the target changed last. */
  readonly target: FormulaTarget | null;
  readonly pinned: FormulaTarget | null;
  readonly isPreviewing: boolean; // whether the effect of a changed knob is previewed
  readonly litTerms: readonly TermId[];
  readonly litKnobs: readonly FieldName[]; // the knobs that a term lights
  readonly open: boolean; // whether the formula is shown
}

export const useFormula = create<FormulaState>()(() => ({
  ...{ target: null, pinned: null, isPreviewing: false, litTerms: [], litKnobs: [] },
  // closed in smaller windows, where it would take half of the space for the knobs
  open: matchMedia(BREAKPOINTS.desk).matches && !matchMedia(BREAKPOINTS.lowDesk).matches,
}));

const HOVER_DELAY_MS = 250; // a pointer that rests shorter than this is ignored

let hovered: FormulaTarget | null = null;
// the target changed last by hand; its preview stays until it is released or can't be computed any more
let lastChanged: FormulaTarget | null = null;
let previewsFlip = false; // the pointer is on a switch that wasn't pressed yet, so the preview shows its opposite state
// the switch pressed last, until the pointer moves to another target; its preview shows its current state
let pressedSwitch: FormulaTarget | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Pins a target, so that it stays lit when the pointer leaves, and shows the formula. A second call unpins it. */
export function pinTarget(target: FormulaTarget): void {
  const { pinned, open } = useFormula.getState();
  const unpins = sameTarget(pinned, target);
  useFormula.setState({ pinned: unpins ? null : target, open: open || !unpins });
  if (unpins) hovered = null; // on a touch screen no pointer event would clear it
  highlight();
  if (open || unpins || !('knob' in target)) return;
  // the formula that opened may cover the knob
  requestAnimationFrame(() => {
    document.querySelector(`[data-knob="${target.knob}"]`)?.scrollIntoView({ block: 'nearest' });
  });
}

/** Ends the preview of a changed or pinned knob. The knob keeps its value. */
export function releaseTarget(): void {
  lastChanged = null;
  useFormula.setState({ pinned: null });
  highlight();
}

export function sameTarget(a: FormulaTarget | null, b: FormulaTarget | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** If the target's knob was changed, previews the change on the batch on screen. */
function highlight(): void {
  const { pinned } = useFormula.getState();
  const { wanted } = useConfig.getState();
  const litTermsOf = (each: FormulaTarget) => ('term' in each ? [each.term] : actingTerms(each, wanted));
  if (lastChanged && !previewedChanges(lastChanged, wanted)) lastChanged = null;
  const target = [hovered, pinned, lastChanged].find((each) => each !== null && litTermsOf(each).length > 0) ?? null;
  const terms = target ? litTermsOf(target) : [];
  const knobs = target !== null && 'term' in target ? knobsOf(target.term, wanted) : [];
  useFormula.setState({
    target: terms.length > 0 ? target : null,
    isPreviewing: lastChanged !== null,
    litTerms: terms,
    litKnobs: knobs,
  });
  highlightTokens();
  clearTimeout(timer);
  if (isPreviewKeyDown()) return;
  const changes = target && previewedChanges(target, wanted);
  if (changes) timer = setTimeout(() => void showPreview(changes), HOVER_DELAY_MS);
  else endPreview();
}

function highlightTokens(): void {
  const { litTerms } = useFormula.getState();
  const { preview, row, highlighted } = useSelection.getState();
  if (litTerms.length === 0) {
    if (highlighted) useSelection.setState({ highlighted: null });
    return;
  }
  // a preview may have other masks, but clipped tokens come from the update that was trained
  const { advantages, epochViews, policyWeights } = useLive.getState().batch;
  const previewBatch = preview?.previewedBatch === useLive.getState().batch && {
    ...preview.batch,
    advantages,
    policyWeights,
    ...(epochViews && { epochViews }),
  };
  const batch = previewBatch || useLive.getState().batch;
  const sets = litTerms.map((term) => TERM_LIST[term].tokens);
  const scene = { batch, config: useConfig.getState().wanted, row };
  useSelection.setState({ highlighted: { marks: combinedMarks(scene, sets), group: sets.includes('group') } });
}

/** The terms that a knob acts on. For an algorithm: the terms of its estimator and of its changed knobs. */
function actingTerms(target: Exclude<FormulaTarget, { readonly term: TermId }>, wanted: RunConfig): readonly TermId[] {
  if ('knob' in target) return termsOf(target.knob, wanted);
  const names = Object.keys(previewedChanges(target, wanted) ?? {}) as FieldName[];
  return [...new Set(['estimator' as const, ...names].flatMap((name) => termsOf(name, wanted)))];
}

/** The changed knobs of a target that are previewed; null if none differs. */
function previewedChanges(target: FormulaTarget, wanted: RunConfig): Partial<RunConfig> | null {
  const flipped = previewsFlip && hovered !== null && 'knob' in hovered ? hovered.knob : null;
  return previewKnobs(target, { wanted, config: useLive.getState().batchConfig, flipped });
}

function targetAt(element: EventTarget | null): FormulaTarget | null {
  if (!(element instanceof Element)) return null;
  const term = element.closest<HTMLElement>('[data-term]')?.dataset['term'];
  if (term !== undefined && Object.hasOwn(TERM_LIST, term)) return { term: term as TermId };
  if (element.closest('[data-algorithm]')) return { algorithm: true };
  const knob = element.closest<HTMLElement>('[data-knob]')?.dataset['knob'];
  return knob !== undefined && isFieldName(knob) ? { knob } : null;
}

function isSwitch(element: EventTarget | null): boolean {
  return element instanceof Element && element.closest('[data-knob] [role="switch"]') !== null;
}

function hover(element: EventTarget | null): void {
  const target = targetAt(element);
  if (!sameTarget(target, pressedSwitch)) pressedSwitch = null;
  const flipping = isSwitch(element) && pressedSwitch === null;
  if (sameTarget(target, hovered) && flipping === previewsFlip) return;
  hovered = target;
  previewsFlip = flipping;
  highlight();
}

/** The control that is typed into or dragged. It stays the target while the pointer moves over the rollout. */
function focusedControl(): Element | null {
  const active = document.activeElement;
  return active?.matches(':is([data-knob], [data-algorithm]) :is(input, select)') ? active : null;
}

/** The target that changed between two configurations: a knob, or an algorithm if several knobs changed. */
function changedTarget(now: RunConfig, before: RunConfig): FormulaTarget | null {
  const names = knobDifferences(now, before);
  const [onlyName] = names;
  if (onlyName === undefined) return null;
  if (names.length === 1) return { knob: onlyName };
  return names.every((name) => name === 'critic' || ALGORITHM_FIELDS.some((each) => each === name))
    ? { algorithm: true }
    : null;
}

/** Lights terms and knobs as pointer or focus moves over them. Returns a function that removes the listeners. */
export function bindTargets(): () => void {
  const onOver = (event: Event) => {
    const focused = focusedControl();
    // the page scrolled under a pointer that didn't move
    if (focused && event instanceof MouseEvent && event.movementX === 0 && event.movementY === 0) return;
    hover(targetAt(event.target) ? event.target : focused);
  };
  const onFocus = ({ target }: Event) => {
    if (target instanceof Element && targetAt(target) && target.matches(':focus-visible')) hover(target);
  };
  const onOut = ({ target }: Event) => {
    if (targetAt(target)) hover(null);
  };
  const onClick = ({ target }: Event) => {
    if (!isSwitch(target)) return;
    previewsFlip = false; // after the press, the previewed value is the value
    pressedSwitch = targetAt(target); // the switch moves under the pointer; this must not count as pointing at it again
    highlight();
  };
  const onBlur = () => hover(null);
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
      lastChanged =
        now.lastEditedKnob === null ? changedTarget(now.wanted, before.wanted) : { knob: now.lastEditedKnob };
      // the changed knob isn't under the pointer: show its effect
      if (lastChanged && !sameTarget(lastChanged, hovered)) hovered = null;
      highlight();
    }),
    useLive.subscribe((now, before) => {
      // training continues, so show the next batches
      if (now.running && !before.running) lastChanged = null;
      if (now.batch !== before.batch || now.running !== before.running) highlight();
    }),
    useSelection.subscribe((now, before) => {
      if (now.row !== before.row || now.preview !== before.preview) highlightTokens();
    }),
  ];
  return () => {
    for (const [type, listener] of listeners) removeEventListener(type, listener);
    for (const stop of stops) stop();
    useFormula.setState({ pinned: null });
    [hovered, lastChanged, pressedSwitch] = [null, null, null];
    highlight();
  };
}
