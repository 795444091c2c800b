import { useMemo } from 'react';
import { batchLogprobs, type BatchSource, type Missing } from '../run/inspect.ts';
import { useCostAccepted } from '../run/acceptedCost.ts';
import { CostQuestion } from '../run/CostQuestion.tsx';
import { useAnswer, useLearned } from '../run/runAnswers.ts';
import { useCurrent } from '../run/currentRollout.ts';
import { live, useLive } from '../run/liveStore.ts';
import { GroupStrip } from '../rollout/GroupStrip.tsx';
import { Header } from '../shell/Header.tsx';
import { Inspector } from '../rollout/Inspector.tsx';
import { StatusLine } from '../shell/StatusLine.tsx';
import { useSelection } from '../shell/selectionStore.ts';
import '../styles/update.css';
import { Changes } from './Changes.tsx';
import { largestChanges } from './changes.ts';
import { ClipMap } from './ClipMap.tsx';
import { Rerun } from './Rerun.tsx';
import { Why } from './Why.tsx';

const MOST_CHANGES = 24;

/** What one update did: which probabilities it changed, how the same tasks end after it, which tokens were clipped. */
export function Update() {
  return (
    <>
      <Header />
      <main className="update screen pane" data-pane="watch">
        <GroupStrip />
        <BeforeAndAfter />
      </main>
      <Inspector />
      <StatusLine />
    </>
  );
}

/** The batch in view, once its update is through; null before. */
function useSource(): BatchSource | null {
  const { batch } = useCurrent();
  const learned = useLearned(batch.update);
  const config = live.batchConfig;
  return useMemo(() => (learned && config ? { batch, config } : null), [learned, config, batch]);
}

function BeforeAndAfter() {
  const source = useSource();
  const row = useSelection((s) => s.row);
  const token = useSelection((s) => s.token);
  const anyway = useCostAccepted('logprobs');
  const subject = useMemo(() => source && { ...source, anyway }, [source, anyway]);
  const asked = useAnswer('logprobs', subject, batchLogprobs);
  const answer = asked?.reply.ok ? asked.reply.answer : null;
  const moved = useMemo(
    () => (answer?.before && answer.after ? { before: answer.before, after: answer.after } : null),
    [answer],
  );
  const chosen = useMemo(() => source && { ...source, row }, [source, row]);
  const about = asked?.subject;
  const changes = useMemo(() => about && moved && largestChanges(about.batch, moved, MOST_CHANGES), [about, moved]);
  return (
    <div className="update-grid">
      <section className="card" aria-labelledby="changes-title" aria-busy={asked === undefined}>
        <h2 className="line" id="changes-title">
          Largest changes {about && <span className="chip">update {about.batch.update}</span>}
        </h2>
        {about && changes ? (
          <Changes source={about} changes={changes} />
        ) : (
          <NoChanges missing={asked && !asked.reply.ok ? asked.reply : null} kept={asked === undefined} />
        )}
      </section>
      <div className="update-side">
        <section className="card" aria-labelledby="why-title">
          <h2 id="why-title">Why did it move?</h2>
          {chosen && token !== null ? (
            <Why source={chosen} t={token} />
          ) : (
            <p className="empty">
              Choose a token in the list. You see how much of its change comes from each rollout, from the optimizer’s
              momentum and from curvature.
            </p>
          )}
        </section>
        <section className="card" aria-labelledby="rerun-title">
          <h2 id="rerun-title">Same prompt, same random numbers, old and new policy</h2>
          <Rerun source={source} row={row} />
        </section>
        <section className="card" aria-labelledby="clip-title">
          <h2 id="clip-title">Clip map</h2>
          {about && moved ? <ClipMap source={about} moved={moved} /> : <p className="faint">Nothing to show yet.</p>}
        </section>
      </div>
    </div>
  );
}

function NoChanges({ missing, kept }: { readonly missing: Missing | null | undefined; readonly kept: boolean }) {
  const started = useLive((s) => s.session !== 'none');
  if (missing) return <CostQuestion kind="logprobs" reply={missing} />;
  if (!started && !live.isExample)
    return <p className="empty">No update yet. Run training: the first one takes a few seconds.</p>;
  if (kept) return <p className="faint">Loading both policies…</p>;
  return <p className="faint">The weights of this update are no longer kept. Choose a later one.</p>;
}
