import { useCallback, useEffect, useMemo, useState } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import { turnInView, useCurrent } from '../run/currentRollout.ts';
import { live } from '../run/liveStore.ts';
import { chooseChannel, selectToken, useSelection } from '../shell/selectionStore.ts';
import { ChannelBar } from './ChannelBar.tsx';
import { channelLooks } from './channelLooks.ts';
import { CHANNELS, type ChannelView, type Moved } from './channels.ts';
import { STOPS } from './kinds.ts';
import { turnsUpTo } from './readRollout.ts';
import { rowAnnotations } from './rowAnnotations.tsx';
import { TokenView } from './TokenView.tsx';

/**
 * Panel with the chosen rollout, token by token: who wrote each token, whether it is trained, and the value of the
 * chosen channel.
 */
export function Trajectory() {
  const recorded = useCurrent();
  const picked = useSelection((s) => s.channel);
  const newestPreview = useSelection((s) => s.preview);
  const preview = newestPreview?.of === recorded.batch ? newestPreview : null;
  const current = useMemo(() => (preview ? { ...recorded, batch: preview.batch } : recorded), [preview, recorded]);
  const chosenTurn = useSelection((s) => s.turn);
  const { batch, rollout } = current;
  const channel = preview?.channel ?? picked;
  const config = live.batchConfig;
  const moved = useTokenChanges(recorded.batch, rollout.row, config, CHANNELS[channel].over === 'rollout');
  const view = useMemo((): ChannelView => {
    const was = { batch: recorded.batch, config, row: rollout.row, moved };
    return preview
      ? { ...was, batch: preview.batch, config: preview.config, was: { ...was, batch: preview.was } }
      : was;
  }, [preview, recorded, config, rollout, moved]);
  const looks = useMemo(() => channelLooks(rollout, view), [rollout, view]);

  const revealed = useSelection((s) => s.revealed);
  const turns = useMemo(() => turnsUpTo(rollout.turns, revealed ?? Infinity), [rollout, revealed]);
  const around = useMemo(() => {
    const { row, words } = rollout;
    const stop = current.episode ? STOPS[current.episode.stop] : null;
    return rowAnnotations({ batch, row, length: words.length, stop, isExample: live.isExample });
  }, [current, batch, rollout]);

  const from = rollout.row * batch.length;
  const marks = useSelection((s) => s.lit?.marks);
  const lit = useCallback((t: number) => marks?.[from + t], [marks, from]);
  const select = useCallback(
    (t: number | null) => selectToken(t, t === null ? null : (batch.turns[from + t] ?? null)),
    [batch, from],
  );
  return (
    <section className="trajectory panel" aria-label="Rollout" data-testid="trajectory">
      <div className="panel-head">
        <h2>Rollout</h2>
        {live.isExample && <span className="chip example">recording</span>}
        <ChannelBar {...{ view, preview, channel }} scale={looks.scale(channel)} choose={chooseChannel} keys />
      </div>
      <TokenView
        {...{ turns, channel, around, lit, select, looks: looks.of, setting: rollout.writing }}
        atOnce={preview !== null /* the legend changes at once too */}
        selected={useSelection((s) => s.token)}
        now={chosenTurn === null ? null : turnInView(current, chosenTurn)}
        label="Tokens; arrow keys move"
      >
        {revealed !== null && revealed < rollout.words.length && (
          <button type="button" className="quiet" onClick={() => useSelection.setState({ revealed: null })}>
            {revealed} of {rollout.words.length} tokens shown · show all
          </button>
        )}
      </TokenView>
    </section>
  );
}

/**
 * How an update changed the log-probabilities of a row's tokens. Asks the run if `wanted`. Null until the answer
 * arrives, and if the run no longer keeps the weights.
 */
function useTokenChanges(batch: BatchView, row: number, config: RunConfig | null, wanted: boolean): Moved | null {
  const [received, setReceived] = useState<{
    readonly batch: BatchView;
    readonly row: number;
    readonly moved: Moved | null;
  }>();
  useEffect(() => {
    if (!wanted || !config) return;
    let unmounted = false;
    void import('../run/inspect.ts')
      .then((m) => m.movedTokens({ batch, row, config }))
      .then((moved) => {
        if (!unmounted) setReceived({ batch, row, moved });
      });
    return () => {
      unmounted = true;
    };
  }, [batch, row, config, wanted]);
  return received?.batch === batch && received.row === row ? received.moved : null;
}
