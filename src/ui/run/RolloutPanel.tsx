import { useCallback, useEffect, useMemo, useState } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import { turnInView, useShownRollout } from '../../page/view/currentRollout.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { chooseChannel, selectToken, useSelection } from '../../page/view/selectionStore.ts';
import { ChannelBar } from '../tokens/ChannelBar.tsx';
import { channelLooks } from '../../page/rollout/channelLooks.ts';
import { CHANNELS, type ChannelView, type LogprobsAroundUpdate } from '../../page/rollout/channels.ts';
import { STOP_TEXTS } from '../../page/rollout/kinds.ts';
import { turnsUpTo } from '../../page/rollout/readRollout.ts';
import { rowAnnotations } from '../tokens/rowAnnotations.tsx';
import { TokenView } from '../tokens/TokenView.tsx';

export function RolloutPanel() {
  const withoutPreview = useShownRollout();
  const chosenChannel = useSelection((s) => s.channel);
  const newestPreview = useSelection((s) => s.preview);
  const preview = newestPreview?.previewedBatch === withoutPreview.batch ? newestPreview : null;
  const withPreview = useMemo(
    () => (preview ? { ...withoutPreview, batch: preview.batch } : withoutPreview),
    [preview, withoutPreview],
  );
  const chosenTurn = useSelection((s) => s.turn);
  const { batch, rollout } = withPreview;
  const channel = preview?.channel ?? chosenChannel;
  const config = useLive.getState().batchConfig;
  const logprobsAroundUpdate = useLogprobChange(
    withoutPreview.batch,
    rollout.row,
    config,
    CHANNELS[channel].scaleOver === 'rollout',
  );
  const view = useMemo((): ChannelView => {
    const unchangedView: ChannelView = { batch: withoutPreview.batch, config, row: rollout.row, logprobsAroundUpdate };
    return preview
      ? {
          ...unchangedView,
          batch: preview.batch,
          config: preview.config,
          unchangedView: { ...unchangedView, batch: preview.unchangedBatch },
        }
      : unchangedView;
  }, [preview, withoutPreview, config, rollout, logprobsAroundUpdate]);
  const looks = useMemo(() => channelLooks(rollout, view), [rollout, view]);

  const revealed = useSelection((s) => s.revealed);
  const turns = useMemo(() => turnsUpTo(rollout.turns, revealed ?? Infinity), [rollout, revealed]);
  const annotations = useMemo(() => {
    const { row, words } = rollout;
    const stopText = withPreview.episode ? STOP_TEXTS[withPreview.episode.stop] : null;
    const { isExample: isRecording } = useLive.getState();
    return rowAnnotations({ batch, row, length: words.length, stopText, config, isRecording });
  }, [withPreview, batch, rollout, config]);

  const rowStart = rollout.row * batch.length;
  const marks = useSelection((s) => s.highlighted?.marks);
  const markOf = useCallback((t: number) => marks?.[rowStart + t], [marks, rowStart]);
  const select = useCallback(
    (t: number | null) => selectToken(t, t === null ? null : (batch.turns[rowStart + t] ?? null)),
    [batch, rowStart],
  );
  return (
    <section className="trajectory col low panel" aria-label="Rollout" data-testid="trajectory">
      <div className="panel-head">
        <h2>Rollout</h2>
        {useLive.getState().isExample && <span className="chip example">recording</span>}
        <ChannelBar {...{ view, preview, channel }} scale={looks.scale(channel)} choose={chooseChannel} hasDigitKeys />
      </div>
      <TokenView
        {...{ turns, channel, annotations, markOf, select, looks: looks.lookOf, layout: rollout.writing }}
        atOnce={preview !== null /* the legend changes at once too */}
        selected={useSelection((s) => s.token)}
        currentTurn={chosenTurn === null ? null : turnInView(withPreview, chosenTurn)}
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

/** Asks the run if `isWanted`. Null until the answer arrives, and if the run no longer keeps the weights. */
function useLogprobChange(
  batch: BatchView,
  row: number,
  config: RunConfig | null,
  isWanted: boolean,
): LogprobsAroundUpdate | null {
  const [received, setReceived] = useState<{
    readonly batch: BatchView;
    readonly row: number;
    readonly moved: LogprobsAroundUpdate | null;
  }>();
  useEffect(() => {
    if (!isWanted || !config) return;
    let unmounted = false;
    void import('../../page/training/inspect.ts')
      .then((m) => m.rowLogprobs({ batch, row, config }))
      .then((moved) => {
        if (!unmounted) setReceived({ batch, row, moved });
      });
    return () => {
      unmounted = true;
    };
  }, [batch, row, config, isWanted]);
  return received?.batch === batch && received.row === row ? received.moved : null;
}
