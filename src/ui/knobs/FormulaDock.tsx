import { useEffect, useMemo, useRef, Fragment, useState } from 'react';
import { formulaOf, symbolsText, type FormulaEquation, type Part, type Piece } from '../../config/formula.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { bindTargets, useFormula, pinTarget, sameTarget, releaseTarget } from '../../page/training/formulaTarget.ts';
import { useShownRollout } from '../../page/view/currentRollout.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { TERM_LIST } from '../../config/formulaTerms.ts';
import { typeset } from '../parts/typeset.tsx';
import { FIELDS, type FieldName, type RunConfig, knobText } from '../../config/fields.ts';
import { algorithmTitle } from '../../page/knobs/algorithm.ts';
import { BeforeAfterChange } from '../charts/BeforeAfterChange.tsx';
import { wholeNumber } from '../../page/words/numberText.ts';
import { usesTouch } from '../../page/browser/breakpoints.ts';
import { usePreview } from '../../page/training/previewStore.ts';
import { lastChangedKnob } from '../../page/runs/lastChangedKnob.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { previewNumbers } from '../../page/rollout/previewNumbers.ts';
import { countMarks, type MarkCounts } from '../../page/rollout/touchedTokens.ts';
import { PREVIEWABLE_KNOBS, type FormulaTarget } from '../../page/knobs/previewKnobs.ts';
import type { BatchView } from '../../domain/batch.ts';
import './formula.css';

/** Always next to the knobs. Terms that a knob acts on are highlighted, as are tokens in the rollout. */
export function FormulaDock() {
  const wanted = useConfig((s) => s.wanted);
  const lines = useMemo(() => formulaOf(wanted), [wanted]);
  const open = useFormula((s) => s.open);
  const target = useFormula((s) => s.target);
  const isPreviewing = useFormula((s) => s.isPreviewing);
  const equations = useRef<HTMLDivElement>(null);
  useEffect(bindTargets, []);
  useEffect(() => {
    const box = equations.current;
    const lit = box?.querySelector<HTMLElement>('.term[data-lit="true"]')?.closest<HTMLElement>('.equation');
    // a term that the pointer is on is already visible
    if (!box || !lit || !target || 'term' in target) return;
    const [top, bottom] = [lit.offsetTop - box.offsetTop, lit.offsetTop - box.offsetTop + lit.offsetHeight];
    if (top < box.scrollTop || bottom > box.scrollTop + box.clientHeight) box.scrollTop = top;
  }, [target]);
  const dock = (
    <details
      className="formula-dock"
      data-testid="formula"
      open={open}
      onToggle={(event) => useFormula.setState({ open: event.currentTarget.open })}
    >
      <summary>
        <h2>Formula</h2>
        <span className="faint">what each knob acts on</span>
      </summary>
      <div className="equations" translate="no" ref={equations}>
        {lines.map((line, i) => (
          <Equation key={i} line={line} />
        ))}
        <p className="equation faint">{typeset(symbolsText(lines))}</p>
      </div>
      <RolloutStrip />
      {open && <TargetDetails />}
    </details>
  );
  return (
    <>
      {dock}
      {!open && isPreviewing && <TargetDetails />}
    </>
  );
}

/** The rollout on screen as a bar, for layouts in which the rollout itself is on another tab. */
function RolloutStrip() {
  const { batch, rollout } = useShownRollout();
  const marks = useSelection((s) => s.highlighted?.marks);
  const from = rollout.row * batch.length;
  const stretches: { mark: number; length: number }[] = [];
  for (let t = 0; t < rollout.words.length; t++) {
    const mark = marks?.[from + t] ?? 0;
    const last = stretches.at(-1);
    if (last?.mark === mark) last.length++;
    else stretches.push({ mark, length: 1 });
  }
  return (
    <div className="lit-strip" aria-hidden="true" data-empty={!marks}>
      <span className="faint">in this rollout</span>
      <div className="lit-runs flex fill">
        {stretches.map(({ mark, length }, i) => (
          <span key={i} data-lit={mark} style={{ flexGrow: length }} />
        ))}
      </div>
    </div>
  );
}

function Equation({ line: { pieces, meaning } }: { readonly line: FormulaEquation }) {
  return (
    <p className="equation">
      <span className="visually-hidden">{meaning}: </span>
      <Pieces pieces={pieces} />
    </p>
  );
}

function Pieces({ pieces, inside = false }: { readonly pieces: readonly Piece[]; readonly inside?: boolean }) {
  return pieces.map((piece, i) => {
    if (typeof piece === 'string') return <Fragment key={i}>{typeset(piece)}</Fragment>;
    return inside ? <NestedTerm key={i} part={piece} /> : <TermButton key={i} part={piece} />;
  });
}

/** A term that the keyboard can focus. Terms inside it can only be hovered. */
function TermButton({ part: { term, pieces, isOff } }: { readonly part: Part }) {
  const lit = useFormula((s) => s.litTerms.includes(term));
  const pinned = useFormula((s) => sameTarget(s.pinned, { term }));
  return (
    <button
      type="button"
      className="term"
      data-term={term}
      data-lit={lit}
      data-off={isOff}
      aria-pressed={pinned}
      onClick={() => pinTarget({ term })}
    >
      <Pieces pieces={pieces} inside />
      <span className="visually-hidden">
        {' '}
        ({TERM_LIST[term].name}
        {isOff && ', off'})
      </span>
    </button>
  );
}

function NestedTerm({ part: { term, pieces } }: { readonly part: Part }) {
  const lit = useFormula((s) => s.litTerms.includes(term));
  return (
    <span className="term" data-term={term} data-lit={lit}>
      <Pieces pieces={pieces} inside />
    </span>
  );
}

/** Tokens that the target touches, and how a change of its knob would change the batch on screen. Has a fixed height. */
function TargetDetails() {
  const target = useFormula((s) => s.target);
  const terms = useFormula((s) => s.litTerms);
  const knobs = useFormula((s) => s.litKnobs);
  const isPreviewing = usePreview((s) => s.changes !== null);
  const wanted = useConfig((s) => s.wanted);
  if (!target) {
    return (
      <div className="acting">
        <SinceLastChange />
        <p className="faint">
          {usesTouch() ? 'Tap the ƒ of a knob, or a term,' : 'Hover a knob or a term'} to highlight the terms and tokens
          it affects. Change a knob to preview its effect on the batch shown. Some knobs can’t be previewed: you see
          their effect after the next updates.
        </p>
      </div>
    );
  }
  const names = terms.map((term) => TERM_LIST[term].name).join(', ');
  return (
    <div className="acting" data-testid="acting">
      {!('term' in target) && <Preview target={target} />}
      {!isPreviewing && 'knob' in target && target.knob === lastChangedKnob()?.knob && <SinceLastChange />}
      {!isPreviewing && (
        <p>
          <b>{'term' in target ? names : targetTitle(target, wanted)}</b>
          {'term' in target ? '. ' : ` · ${names}. `}
          {terms.length === 1 && terms[0] && TERM_LIST[terms[0]].doc} <TouchedCount />
        </p>
      )}
      {'term' in target && knobs.length > 0 && (
        <p className="soft">{knobs.map((name) => FIELDS[name].label).join(' · ')}</p>
      )}
    </div>
  );
}

function SinceLastChange() {
  useLive((s) => s.metricsVersion);
  const flags = useLive((s) => s.flags);
  const index = flags.length - 1;
  const change = flags[index];
  if (!change) return null;
  return (
    <div data-testid="since">
      <p>
        <b>Since update {change.update}</b>, {change.text}.{' '}
        <a className="accent" href="#/forks">
          Was it the change?
        </a>
      </p>
      <BeforeAfterChange run={{ changes: flags, series: useLive.getState().series }} index={index} />
    </div>
  );
}

type KnobTarget = Exclude<FormulaTarget, { readonly term: unknown }>;

function targetTitle(target: KnobTarget, wanted: RunConfig): string {
  if ('knob' in target) return `${FIELDS[target.knob].label} ${knobText(wanted[target.knob])}`;
  return `Algorithm ${algorithmTitle(wanted)}`;
}

function TouchedCount() {
  const lit = useSelection((s) => s.highlighted);
  const { batch, rollout } = useShownRollout();
  const counts = useMemo(() => lit && countMarks(lit.marks, batch, rollout.row), [lit, rollout, batch]);
  const groups = useMemo(() => new Set(batch.episodes.map(({ group }) => group)).size, [batch]);
  if (!counts) return null;
  return <span className="soft">{touchedText(counts, groups)}</span>;
}

function touchedText({ inBatch, groupCount, inRow, clippedHigh, clippedLow }: MarkCounts, all: number): string {
  const clippedCount = clippedHigh + clippedLow;
  if (clippedCount > 0) {
    const sides = [
      ...(clippedHigh > 0 ? [`▲ ${wholeNumber(clippedHigh)} after they became more likely`] : []),
      ...(clippedLow > 0 ? [`▼ ${wholeNumber(clippedLow)} after they became less likely`] : []),
    ];
    return `Clipped in at least one epoch: ${sides.join(', ')}.`;
  }
  if (inBatch === 0) return 'It touches no token of this batch.';
  const within = groupCount === 1 && all > 1 ? 'this group' : 'the batch';
  return `${wholeNumber(inBatch)} ${inBatch === 1 ? 'token' : 'tokens'} of ${within}, ${wholeNumber(inRow)} of this rollout.`;
}

/** How the batch on screen would have been different with the current values of the knob or of the algorithm's knobs. */
function Preview({ target }: { readonly target: KnobTarget }) {
  const { changes, preview, refusalReason, previewedBatch } = usePreview();
  const { batch } = useShownRollout();
  const isChanged = useConfig(
    (s) => 'knob' in target && s.applied !== null && s.wanted[target.knob] !== s.applied[target.knob],
  );
  const wanted = useConfig((s) => s.wanted);
  const summary = useMemo(
    () => (preview && previewedBatch && changes ? previewNumbers({ batch: previewedBatch, changes, preview }) : null),
    [preview, previewedBatch, changes],
  );
  if (!changes || previewedBatch !== batch || ('knob' in target && changes[target.knob] === undefined)) {
    if (!('knob' in target) || PREVIEWABLE_KNOBS.has(target.knob) || !isChanged) return null;
    return <p className="soft">No preview: this needs rollouts that have not been drawn.</p>;
  }
  return (
    <>
      <div className="row between">
        <b>{'algorithm' in target ? targetTitle(target, wanted) : FIELDS[target.knob].label}</b>
        <span className="line">
          {summary && <ShowTokens batch={batch} tokens={summary.tokens} />}
          <button
            type="button"
            className="quiet small"
            title="Stop the preview; keep the value"
            onClick={releaseTarget}
          >
            Done
          </button>
        </span>
      </div>
      {refusalReason !== null ? (
        <p className="soft">{refusalReason}</p>
      ) : summary ? (
        <p className="tried" aria-live="polite" data-testid="tried">
          {changes.groupSize !== undefined && `Only the first ${knobText(changes.groupSize)} rollouts of each task. `}
          With {changesText(changes)}: {summary.sentence}
        </p>
      ) : (
        <p className="soft waiting">Computing it on this batch…</p>
      )}
    </>
  );
}

/** The previewed values as text. If there are several, with the names of the knobs. */
function changesText(changes: Partial<RunConfig>): string {
  const all = Object.entries(changes) as [FieldName, string | number][];
  return all
    .map(([name, value]) => (all.length > 1 ? `${FIELDS[name].label} ${knobText(value)}` : knobText(value)))
    .join(', ');
}

interface Props {
  readonly batch: BatchView;
  readonly tokens: readonly number[]; // flat indexes
}

/** Buttons that show the given tokens of a batch one after the other. Nothing if there are none. */
function ShowTokens({ batch, tokens }: Props) {
  const [position, setAt] = useState<{ readonly of: readonly number[]; readonly k: number } | null>(null);
  if (tokens.length === 0) return null;
  const k = position?.of === tokens ? position.k : null;
  const goToIndex = (to: number) => {
    const next = (to + tokens.length) % tokens.length;
    setAt({ of: tokens, k: next });
    selectToken(batch, tokens[next] ?? 0);
  };
  if (k === null) {
    return (
      <button type="button" className="small" onClick={() => goToIndex(0)}>
        {tokens.length === 1 ? 'Show it ›' : 'Show them ›'}
      </button>
    );
  }
  return (
    <span className="line">
      <button type="button" className="small" aria-label="Previous token" onClick={() => goToIndex(k - 1)}>
        ‹
      </button>
      <span aria-live="polite">
        {wholeNumber(k + 1)} of {wholeNumber(tokens.length)}
      </span>
      <button type="button" className="small" aria-label="Next token" onClick={() => goToIndex(k + 1)}>
        ›
      </button>
    </span>
  );
}

/** Selects a token with its rollout and turn, and scrolls to it. On a phone, also opens the tab with the rollout. */
function selectToken(batch: BatchView, i: number): void {
  const [row, token] = [Math.floor(i / batch.length), i % batch.length];
  useSelection.setState({ row, token, turn: batch.turns[i] ?? null, revealed: null, branch: null, tab: 'watch' });
  requestAnimationFrame(() =>
    document.querySelector('.turns .token[aria-pressed="true"]')?.scrollIntoView({ block: 'nearest' }),
  );
}
