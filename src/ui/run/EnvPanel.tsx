import { lazy, Suspense } from 'react';
import { turnInView, useShownRollout } from '../../page/view/currentRollout.ts';
import { rewardNumber } from '../../page/words/numberText.ts';
import { STOP_TEXTS } from '../../page/rollout/kinds.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { Drawing, LEGENDS, taskTitle } from '../drawings/Drawing.tsx';
import { Icon } from '../parts/Icon.tsx';

// not needed to read the page, so loaded after the first paint
const RewardSplit = lazy(() => import('../parts/RewardSplit.tsx').then((m) => ({ default: m.RewardSplit })));

export function EnvPanel() {
  const current = useShownRollout();
  const chosenTurn = useSelection((s) => s.turn);
  const revealed = useSelection((s) => s.revealed);
  const view = current.episode?.view;
  if (!view) return <Placeholder />;
  const { turns, reward, toolCalls, waited, invalidTurns, stop } = current.episode;
  const turn = Math.min(turnInView(current, chosenTurn, revealed), turns);
  const group = current.batch.episodes.filter((other) => other.group === current.episode?.group).map((e) => e.view);
  const goToTurn = (target: number) =>
    useSelection.setState({ turn: Math.min(turns, Math.max(1, target)), token: null });
  return (
    <section className="env col low scrolls panel" aria-label="Environment" data-testid="environment">
      <div className="panel-head">
        <h2>{taskTitle(view)}</h2>
        <span className="line end small soft">
          <button
            type="button"
            className="quiet icon-button small"
            aria-label="Previous turn"
            disabled={turn <= 1}
            onClick={() => goToTurn(turn - 1)}
          >
            <Icon name="left" />
          </button>
          turn {turn}/{turns}
          <button
            type="button"
            className="quiet icon-button small"
            aria-label="Next turn"
            disabled={turn >= turns}
            onClick={() => goToTurn(turn + 1)}
          >
            <Icon name="right" />
          </button>
        </span>
      </div>
      <div className="env-body" translate="no">
        <Drawing view={view} turn={turn} group={group} />
      </div>
      <dl className="outcome">
        <Fact label="reward" value={rewardNumber(reward)} />
        <Fact label="tool calls" value={String(toolCalls)} />
        {waited > 0 && <Fact label="turns waited" value={String(waited)} />}
        <Fact label="malformed turns" value={String(invalidTurns)} />
        <Fact label="ended" value={STOP_TEXTS[stop]} />
      </dl>
      <Suspense>
        <RewardSplit episode={current.episode} />
      </Suspense>
      <div className="env-foot">
        <p className="small faint">{LEGENDS[view.kind]}</p>
        <button
          type="button"
          className="quiet small play-door"
          title="Play it yourself (P)"
          onClick={() => useSelection.setState({ playing: true })}
        >
          <Icon name="play" /> Play it yourself
        </button>
      </div>
    </section>
  );
}

/** Placeholder until the run has a rollout; empty while a recording loads. */
function Placeholder() {
  const hasSession = useLive((s) => s.session !== 'none');
  return (
    <section className="env col low scrolls panel" aria-label="Environment">
      {hasSession && (
        <>
          <h2>Environment</h2>
          <p className="faint">The task appears with the first rollouts.</p>
        </>
      )}
    </section>
  );
}

function Fact({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}
