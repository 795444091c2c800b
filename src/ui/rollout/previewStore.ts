import { create } from 'zustand';
import { FIELDS, type Field, type FieldName, type RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { BatchPreview } from '../../domain/batchPreview.ts';
import { knobText } from '../../config/knobText.ts';
import { reply } from '../run/inspect.ts';
import { live, useLive } from '../run/liveStore.ts';
import { question } from '../run/transport.ts';
import { type ShownPreview, useSelection } from '../shell/selectionStore.ts';
import type { Channel } from './channels.ts';

type Changes = Partial<RunConfig>;

interface PreviewState {
  readonly changes: Changes | null; // the previewed knobs; null: no preview
  readonly of: BatchView | null; // the batch that is previewed
  // null: not answered yet, or impossible
  readonly preview: BatchPreview | Pick<BatchPreview, 'batch' | 'before'> | null;
  readonly refused: string | null; // why it is impossible
}
const NO_PREVIEW: PreviewState = { changes: null, of: null, preview: null, refused: null };

/** The preview of changed knobs on the batch in view. */
export const usePreview = create<PreviewState>()(() => NO_PREVIEW);

let asking = false;

/**
 * Shows, until `endPreview`, how the update in view would have pushed its tokens with changed knobs. It trains nothing.
 * Only one question is open at a time: when its answer arrives, the next one asks about the newest changes, so a moving
 * slider skips values.
 */
export async function holdPreview(changes: Changes): Promise<void> {
  const { batch } = live;
  const current = usePreview.getState();
  if (current.of === batch && sameChanges(current.changes, changes)) return;
  const refused = refusal();
  // keep the old preview until the answer arrives, or a moving slider would make it flicker
  const preview = refused === null && current.of === batch ? current.preview : null;
  usePreview.setState({ changes, of: batch, preview, refused });
  if (refused !== null) useSelection.setState({ preview: null });
  else if (!asking) await askUntilCurrent();
}

/** Why the batch in view cannot be previewed; null if it can. */
function refusal(): string | null {
  if (!live.batchConfig) return 'This is a recording. Train one update to preview knobs on its batch.';
  return !live.isExample && useLive.getState().update < live.batch.update ? 'This update is still under way.' : null;
}

/** Asks for the preview, again if the changes moved on meanwhile, until the answer is for the newest changes. */
async function askUntilCurrent(): Promise<void> {
  asking = true;
  try {
    for (;;) {
      const { changes, of } = usePreview.getState();
      const { batchConfig: config } = live;
      if (!changes || !of || !config || of !== live.batch) return;
      const received = reply(await question({ kind: 'preview', update: of.update, changes }), 'preview');
      const now = usePreview.getState();
      if (now.of !== of || now.changes !== changes) continue;
      const preview = received.ok ? received.answer.preview : null;
      const reason = received.ok ? 'This update is no longer kept.' : received.message;
      usePreview.setState({ preview, refused: preview ? null : reason });
      useSelection.setState({ preview: preview && shownPreview(preview, of, config, changes) });
      return;
    }
  } finally {
    asking = false;
  }
}

/** Ends the preview: the batch is shown as recorded again. */
export function endPreview(): void {
  if (usePreview.getState().changes) usePreview.setState(NO_PREVIEW);
  if (useSelection.getState().preview) useSelection.setState({ preview: null });
}

let isKeyDown = false;

/** Whether the key M keeps the preview open; then moving the pointer doesn't end it. */
export function isKeyed(): boolean {
  return isKeyDown;
}

/**
 * Previews both masks off, or both on if both are off, while the key M is down. Both, because the policy loss pushes
 * observations only if both are off.
 */
export function pressPreview(): void {
  const { batchConfig: config } = live;
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
  const both = config.lossMask === 'off' && config.advantageMask === 'off' ? 'on' : 'off';
  void holdPreview({ lossMask: both, advantageMask: both });
}

function sameChanges(a: Changes | null, b: Changes): boolean {
  return a !== null && JSON.stringify(a) === JSON.stringify(b);
}

/** Channels that a preview can change. If another one is shown, the preview switches to the pushes. */
const PREVIEWABLE: readonly Channel[] = ['advantage', 'gradient', 'kl'];

function shownPreview(
  { batch: preview, before }: Pick<BatchPreview, 'batch' | 'before'>,
  batch: BatchView,
  config: RunConfig,
  changes: Changes,
): ShownPreview {
  const { channel, preview: shown } = useSelection.getState();
  const singleEpoch = (preview.passes?.length ?? 0) <= 1;
  return {
    ...{ of: batch, was: { ...batch, ...before }, batch: preview, config: { ...config, ...changes } },
    ...{ label: `If ${changesText(changes)}`, passes: singleEpoch ? 'with every ratio at 1' : 'epoch by epoch' },
    channel: shown?.channel ?? (PREVIEWABLE.includes(channel) ? channel : 'gradient'),
  };
}

function changesText({ lossMask, advantageMask, ...others }: Changes): string {
  const both = lossMask !== undefined && advantageMask !== undefined;
  const rest = both ? others : { lossMask, advantageMask, ...others };
  const words = (Object.entries(rest) as [FieldName, string | number | undefined][])
    .filter((each): each is [FieldName, string | number] => each[1] !== undefined)
    .map(([name, value]) => {
      const field: Field = FIELDS[name];
      return `${field.label.toLowerCase()} were ${knobText(value)}`;
    });
  return [...(both ? [`both masks were ${lossMask}`] : []), ...words].join(' and ');
}
