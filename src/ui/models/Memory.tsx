import type { CSSProperties } from 'react';
import { LENGTHS, type MemoryPlan, type ModelCard, type SpeakingEngine } from '../../domain/modelCard.ts';
import { bytes, duration, wholeNumber } from '../../page/words/numberText.ts';
import { reportedMemoryInWords } from '../../page/models/reportedMemory.ts';
import { closeModel, openModel, planMemory as planFor, useModels } from '../../page/models/modelStore.ts';

const ENGINES: Readonly<Record<SpeakingEngine, string>> = { gpu: 'GPU', cpu: 'CPU' };

interface Props {
  readonly card: ModelCard;
}

export function Memory({ card }: Props) {
  const plan = useModels((s) => s.plan);
  const loading = useModels((s) => s.loading);
  if (!plan) return null;
  return (
    <div className="stack model-memory">
      <OpeningChoices {...{ card, plan }} />
      <MemoryParts parts={plan.parts} />
      <p className="small faint">
        {plan.availableText} {reportedMemoryInWords()}
      </p>
      {plan.refusal && (
        <p className="note bad small" role="alert">
          {plan.refusal.reason} {plan.refusal.remedy}
        </p>
      )}
      {loading ? (
        <div className="stack" role="status">
          <progress value={loading.bytes} max={loading.of} aria-label="Weights read" />
          <span className="small soft">
            Reading weights: {bytes(loading.bytes)} of {bytes(loading.of)}
          </span>
        </div>
      ) : (
        <OpenOrClose {...{ card, plan }} />
      )}
    </div>
  );
}

interface PlanProps extends Props {
  readonly plan: MemoryPlan;
}

function OpeningChoices({ card, plan: { length, engine, engines, whyNoGpu } }: PlanProps) {
  const busy = useModels((s) => s.loading !== null || s.writing);
  const lengths = LENGTHS.filter((tokens) => card.context === null || tokens <= card.context);
  return (
    <>
      <label className="row between">
        <span>Texts of up to</span>
        <select value={length} disabled={busy} onChange={({ target }) => planFor({ length: Number(target.value) })}>
          {[...new Set([...lengths, length])].map((tokens) => (
            <option key={tokens} value={tokens}>
              {wholeNumber(tokens)} tokens
            </option>
          ))}
        </select>
      </label>
      {engines.length > 1 && (
        <div className="row between">
          <span>On the</span>
          <div className="segments" role="group" aria-label="What runs it">
            {engines.map((each) => (
              <button
                key={each}
                type="button"
                aria-pressed={engine === each}
                disabled={busy}
                onClick={() => planFor({ engine: each })}
              >
                {ENGINES[each]}
              </button>
            ))}
          </div>
        </div>
      )}
      {whyNoGpu && (
        <p className="small faint" data-testid="no-gpu">
          {whyNoGpu} The model runs on the CPU.
        </p>
      )}
    </>
  );
}

const partColour = (i: number) => `var(--run-${i}, var(--line-strong))`;

export function MemoryParts({ parts }: Pick<MemoryPlan, 'parts'>) {
  const total = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (parts.length === 0) return null;
  return (
    <>
      <div className="memory-bar" aria-hidden="true">
        {parts.map(({ purpose, bytes: partBytes }, i) => (
          <span key={purpose} style={{ '--share': partBytes / total, background: partColour(i) } as CSSProperties} />
        ))}
      </div>
      <ul className="small memory-parts" aria-label="Memory it takes">
        {parts.map(({ purpose, bytes: partBytes }, i) => (
          <li key={purpose} className="row between">
            <span className="line">
              <i className="memory-swatch" style={{ background: partColour(i) }} aria-hidden="true" /> {purpose}
            </span>
            <span>{bytes(partBytes)}</span>
          </li>
        ))}
        <li className="row between strong">
          <span>Together</span>
          <span>{bytes(total)}</span>
        </li>
      </ul>
    </>
  );
}

function OpenOrClose({ card, plan: { length, engine, refusal } }: PlanProps) {
  const opened = useModels((s) => s.opened);
  const writing = useModels((s) => s.writing);
  const isOpen = opened?.card === card && opened.plan.length === length && opened.plan.engine === engine;
  return (
    <div className="row">
      {isOpen ? (
        <span className="small soft" role="status">
          Open on {opened.backend}, in {duration(opened.seconds)}
        </span>
      ) : (
        <button type="button" className="primary" disabled={refusal !== null || writing} onClick={openModel}>
          {opened?.card === card ? 'Reopen with these settings' : 'Open'}
        </button>
      )}
      <button type="button" className="quiet small end" onClick={closeModel}>
        Close
      </button>
    </div>
  );
}
