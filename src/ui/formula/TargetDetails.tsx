import { useMemo } from 'react';
import { FIELDS, type FieldName, type RunConfig } from '../../config/fields.ts';
import { TERM_LIST } from '../../config/formulaTerms.ts';
import { algorithmTitle } from '../knobs/algorithm.ts';
import { AroundChange } from '../curves/AroundChange.tsx';
import { useConfig } from '../knobs/configStore.ts';
import { knobText } from '../../config/knobText.ts';
import { whole } from '../parts/numberText.ts';
import { usesTouch } from '../parts/touchScreen.ts';
import { usePreview } from '../rollout/previewStore.ts';
import { useCurrent } from '../run/currentRollout.ts';
import { lastTurned } from '../run/lastTurned.ts';
import { live, useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { previewNumbers } from './previewNumbers.ts';
import { counted, type Counts } from './counts.ts';
import { release, useFormula } from './formulaTarget.ts';
import { ShowTokens } from './ShowTokens.tsx';
import { CAN_PREVIEW, type Target } from './previewKnobs.ts';

/** What is pointed at, which tokens it touches, and what turning it would change on the batch in view. As tall, whatever it says. */
export function TargetDetails() {
  const target = useFormula((s) => s.target);
  const terms = useFormula((s) => s.terms);
  const knobs = useFormula((s) => s.knobs);
  const trying = usePreview((s) => s.changes !== null);
  const wanted = useConfig((s) => s.wanted);
  if (!target) {
    return (
      <div className="acting">
        <Since />
        <p className="faint">
          {usesTouch() ? 'Tap the ƒ of a knob, or a term,' : 'Hover a knob or a term'} to light the terms and tokens it
          acts on. Change a knob to preview its effect on the batch in view. Some knobs can’t be previewed and show
          their effect in the next updates.
        </p>
      </div>
    );
  }
  const names = terms.map((term) => TERM_LIST[term].name).join(', ');
  return (
    <div className="acting" data-testid="acting">
      {!('term' in target) && <Preview target={target} />}
      {!trying && 'knob' in target && target.knob === lastTurned()?.knob && <Since />}
      {!trying && (
        <p>
          <b>{'term' in target ? names : turnedName(target, wanted)}</b>
          {'term' in target ? '. ' : ` · ${names}. `}
          {terms.length === 1 && terms[0] && TERM_LIST[terms[0]].doc} <Touched />
        </p>
      )}
      {'term' in target && knobs.length > 0 && (
        <p className="soft">{knobs.map((name) => FIELDS[name].label).join(' · ')}</p>
      )}
    </div>
  );
}

/** What the run has been since its knobs were changed last. */
function Since() {
  useLive((s) => s.metricsVersion);
  useLive((s) => s.flagsVersion);
  const index = live.flags.length - 1;
  const change = live.flags[index];
  if (!change) return null;
  return (
    <div data-testid="since">
      <p>
        <b>Since update {change.update}</b>, {change.text}.{' '}
        <a className="told-by" href="#/runs">
          Was it the change?
        </a>
      </p>
      <AroundChange run={{ changes: live.flags, series: live.series }} index={index} />
    </div>
  );
}

type Turned = Exclude<Target, { readonly term: unknown }>;

function turnedName(target: Turned, wanted: RunConfig): string {
  if ('knob' in target) return `${FIELDS[target.knob].label} ${knobText(wanted[target.knob])}`;
  return `Algorithm ${algorithmTitle(wanted)}`;
}

function Touched() {
  const lit = useSelection((s) => s.lit);
  const { batch, rollout } = useCurrent();
  const counts = useMemo(() => lit && counted(lit.marks, batch, rollout.row), [lit, rollout, batch]);
  const groups = useMemo(() => new Set(batch.episodes.map(({ group }) => group)).size, [batch]);
  if (!counts) return null;
  return <span className="soft">{touchedWords(counts, groups)}</span>;
}

function touchedWords({ batch, groups, here, rose, fell }: Counts, all: number): string {
  const held = rose + fell;
  if (held > 0) {
    const sides = [
      ...(rose > 0 ? [`▲ ${whole(rose)} that had become more likely`] : []),
      ...(fell > 0 ? [`▼ ${whole(fell)} that had become less likely`] : []),
    ];
    return `Clipped in at least one epoch: ${sides.join(', ')}.`;
  }
  if (batch === 0) return 'It touches no token of this batch.';
  const within = groups === 1 && all > 1 ? 'this group' : 'the batch';
  return `${whole(batch)} ${batch === 1 ? 'token' : 'tokens'} of ${within}, ${whole(here)} of this rollout.`;
}

/** What the batch in view would have been with the knob, or the algorithm's knobs, as they stand. */
function Preview({ target }: { readonly target: Turned }) {
  const { changes, preview, refused, of } = usePreview();
  const { batch } = useCurrent();
  const moved = useConfig(
    (s) => 'knob' in target && s.applied !== null && s.wanted[target.knob] !== s.applied[target.knob],
  );
  const wanted = useConfig((s) => s.wanted);
  useLive((s) => s.batchVersion);
  const shown = useMemo(
    () => (preview && of && changes ? previewNumbers({ batch: of, changes, preview }) : null),
    [preview, of, changes],
  );
  if (!changes || of !== batch || ('knob' in target && changes[target.knob] === undefined)) {
    if (!('knob' in target) || CAN_PREVIEW.has(target.knob) || !moved) return null;
    return <p className="soft">No preview: this needs rollouts that have not been drawn.</p>;
  }
  return (
    <>
      <div className="row between">
        <b>{'algorithm' in target ? turnedName(target, wanted) : FIELDS[target.knob].label}</b>
        <span className="line">
          {shown && <ShowTokens batch={batch} tokens={shown.tokens} />}
          <button type="button" className="quiet small" title="Stop the preview; keep the value" onClick={release}>
            Done
          </button>
        </span>
      </div>
      {refused !== null ? (
        <p className="soft">{refused}</p>
      ) : shown ? (
        <p className="tried" aria-live="polite" data-testid="tried">
          {changes.groupSize !== undefined && `Only the first ${knobText(changes.groupSize)} rollouts of each task. `}
          With {turnedText(changes)}: {shown.sentence}
        </p>
      ) : (
        <p className="soft waiting">Computing it on this batch…</p>
      )}
    </>
  );
}

/** Turned knobs as they would stand: of one its value, of several their names too. */
function turnedText(changes: Partial<RunConfig>): string {
  const all = Object.entries(changes) as [FieldName, string | number][];
  return all
    .map(([name, value]) => (all.length > 1 ? `${FIELDS[name].label} ${knobText(value)}` : knobText(value)))
    .join(', ');
}
