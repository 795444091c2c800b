import { create } from 'zustand';
import { FIELDS, type Field, type FieldName, type RunConfig, knobText } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { BatchPreview } from '../../domain/readings.ts';
import { OBSERVATION_STATES, type ObservationState, observationState } from '../../config/masks.ts';
import { reply } from './inspect.ts';
import { useLive } from '../view/liveStore.ts';
import { maskPhrase } from '../words/maskSentence.ts';
import { question } from './transport.ts';
import { type ShownPreview, useSelection } from '../view/selectionStore.ts';
import type { Channel } from '../rollout/channels.ts';

type Changes = Partial<RunConfig>;

interface PreviewState {
  readonly changes: Changes | null; // the previewed knobs; null: no preview
  readonly previewedBatch: BatchView | null;
  // null: not answered yet, or impossible
  readonly preview: BatchPreview | Pick<BatchPreview, 'batch' | 'before'> | null;
  readonly refusalReason: string | null; // why there can be no preview; null: there can
}
const NO_PREVIEW: PreviewState = { changes: null, previewedBatch: null, preview: null, refusalReason: null };

export const usePreview = create<PreviewState>()(() => NO_PREVIEW);

let isAsking = false;

/**
 * Shows, until `endPreview`, how the update in view would have pushed its tokens with changed knobs. It trains nothing.
 * Only one question is open at a time: when its answer arrives, the next one asks about the newest changes, so a moving
 * slider skips values.
 */
export async function showPreview(changes: Changes): Promise<void> {
  const { batch } = useLive.getState();
  const current = usePreview.getState();
  if (current.previewedBatch === batch && sameChanges(current.changes, changes)) return;
  const refusalReason = whyNotPreviewable();
  // keep the old preview until the answer arrives, or a moving slider would make it flicker
  const preview = refusalReason === null && current.previewedBatch === batch ? current.preview : null;
  usePreview.setState({ changes, previewedBatch: batch, preview, refusalReason });
  if (refusalReason !== null) useSelection.setState({ preview: null });
  else if (!isAsking) await askUntilCurrent();
}

function whyNotPreviewable(): string | null {
  if (!useLive.getState().batchConfig) return 'This is a recording. Train one update to preview knobs on its batch.';
  return !useLive.getState().isExample && useLive.getState().update < useLive.getState().batch.update
    ? 'This update is still under way.'
    : null;
}

/** Asks for the preview, again if the changes moved on meanwhile, until the answer is for the newest changes. */
async function askUntilCurrent(): Promise<void> {
  isAsking = true;
  try {
    for (;;) {
      const { changes, previewedBatch } = usePreview.getState();
      const { batchConfig: config } = useLive.getState();
      if (!changes || !previewedBatch || !config || previewedBatch !== useLive.getState().batch) return;
      const received = reply(await question({ kind: 'preview', update: previewedBatch.update, changes }), 'preview');
      const latest = usePreview.getState();
      if (latest.previewedBatch !== previewedBatch || latest.changes !== changes) continue;
      const preview = received.ok ? received.answer.preview : null;
      const reason = received.ok ? 'This update is no longer kept.' : received.message;
      usePreview.setState({ preview, refusalReason: preview ? null : reason });
      useSelection.setState({ preview: preview && shownPreview(preview, previewedBatch, config, changes) });
      return;
    }
  } finally {
    isAsking = false;
  }
}

export function endPreview(): void {
  if (usePreview.getState().changes) usePreview.setState(NO_PREVIEW);
  if (useSelection.getState().preview) useSelection.setState({ preview: null });
}

let isKeyDown = false;

/** Whether the key M keeps the preview open; then moving the pointer doesn't end it. */
export function isPreviewKeyDown(): boolean {
  return isKeyDown;
}

let lastState: { readonly batch: BatchView; readonly place: number } | null = null; // that M showed

/**
 * Previews another state of the observations while the key M is down: graded (loss mask and advantage mask off), left
 * out (both on), or predicted (both on, with an observation loss). Pressing M again shows the next of the two states
 * that the batch isn't in. It always switches both masks, because the policy loss pushes observations only if both are
 * off. A recording without marks of observations' words has no preview of the predicted state.
 */
export function previewMasks(): void {
  const { batchConfig: config, batch } = useLive.getState();
  if (!config || isKeyDown) return;
  isKeyDown = true;
  const onEnd = (event: Event) => {
    if (event instanceof KeyboardEvent && event.key.toLowerCase() !== 'm') return;
    removeEventListener('keyup', onEnd);
    removeEventListener('blur', onEnd);
    isKeyDown = false;
    endPreview();
  };
  addEventListener('keyup', onEnd);
  addEventListener('blur', onEnd);
  const place = lastState?.batch === batch ? lastState.place + 1 : 0;
  lastState = { batch, place };
  const states = otherStates(config, batch.bodies !== undefined);
  void showPreview(states[place % states.length] ?? {});
}

/** The knobs of the states that observations aren't in. The observation loss is left out where it stays as it is. */
function otherStates(config: RunConfig, canPredict: boolean): readonly Changes[] {
  const current = observationState(config);
  return (Object.keys(OBSERVATION_STATES) as ObservationState[])
    .filter((state) => state !== current && (state !== 'predicted' || canPredict))
    .map((state) => {
      const { observationLoss, ...switches }: Changes = OBSERVATION_STATES[state];
      const isChanged = observationLoss !== undefined && observationLoss !== config.observationLoss;
      return { ...switches, ...(isChanged && { observationLoss }) };
    });
}

function sameChanges(a: Changes | null, b: Changes): boolean {
  return a !== null && JSON.stringify(a) === JSON.stringify(b);
}

/** Channels that a preview can change. If another channel is shown, the preview switches to the pushes. */
const PREVIEWABLE: readonly Channel[] = ['advantage', 'gradient', 'kl'];

function shownPreview(
  { batch: preview, before }: Pick<BatchPreview, 'batch' | 'before'>,
  batch: BatchView,
  config: RunConfig,
  changes: Changes,
): ShownPreview {
  const { channel, preview: shown } = useSelection.getState();
  const singleEpoch = (preview.epochViews?.length ?? 0) <= 1;
  return {
    ...{
      previewedBatch: batch,
      unchangedBatch: { ...batch, ...before },
      batch: preview,
      config: { ...config, ...changes },
    },
    ...{
      label: `Preview with ${changesText(changes)}${effectText({ ...config, ...changes }, changes)}`,
      ratios: singleEpoch ? 'all ratios 1' : 'epoch by epoch',
    },
    channel: shown?.channel ?? (PREVIEWABLE.includes(channel) ? channel : 'gradient'),
  };
}

/** What changed masks do to observations, in brackets; '' if no mask changes. */
function effectText(config: RunConfig, { lossMask, observationLoss }: Changes): string {
  const isChanged = lossMask !== undefined || observationLoss !== undefined;
  return isChanged ? ` (observations: ${maskPhrase(config)})` : '';
}

function changesText({ lossMask, advantageMask, ...others }: Changes): string {
  const both = lossMask !== undefined && advantageMask !== undefined;
  const listedChanges = both ? others : { lossMask, advantageMask, ...others };
  const words = (Object.entries(listedChanges) as [FieldName, string | number | undefined][])
    .filter((each): each is [FieldName, string | number] => each[1] !== undefined)
    .map(([name, value]) => {
      const field: Field = FIELDS[name];
      return `${field.label.toLowerCase()} ${knobText(value)}`;
    });
  return [...(both ? [`both masks ${lossMask}`] : []), ...words].join(' and ');
}
