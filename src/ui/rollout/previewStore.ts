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
  readonly changes: Changes | null; // what is held; null: nothing
  readonly of: BatchView | null; // the batch it is held against
  readonly preview: BatchPreview | Pick<BatchPreview, 'batch' | 'before'> | null; // null: not answered yet, or it cannot be had
  readonly refused: string | null; // why it cannot be had
}
const NOTHING: PreviewState = { changes: null, of: null, preview: null, refused: null };

/** What is tried on the batch in view. */
export const usePreview = create<PreviewState>()(() => NOTHING);

let asking = false;

/**
 * Shows what the update in view would have pushed with knobs turned, until `letGo`. Nothing learns from it. One question at a time:
 * a slider that moves on meanwhile is asked about where it has come to.
 */
export async function holdPreview(changes: Changes): Promise<void> {
  const { batch } = live;
  const current = usePreview.getState();
  if (current.of === batch && sameChanges(current.changes, changes)) return;
  const refused = refusal();
  // what was shown stays until there is an answer: a slider would flicker
  const preview = refused === null && current.of === batch ? current.preview : null;
  usePreview.setState({ changes, of: batch, preview, refused });
  if (refused !== null) useSelection.setState({ preview: null });
  else if (!asking) await answered();
}

/** Why nothing can be tried on the batch in view; null where something can. */
function refusal(): string | null {
  if (!live.batchConfig) return 'This is a recording. Train one update to preview knobs on its batch.';
  return !live.isExample && useLive.getState().update < live.batch.update ? 'This update is still under way.' : null;
}

/** Asks about what is held until the answer is about what is held by then. */
async function answered(): Promise<void> {
  asking = true;
  try {
    for (;;) {
      const { changes, of } = usePreview.getState();
      const { batchConfig: config } = live;
      if (!changes || !of || !config || of !== live.batch) return;
      const got = reply(await question({ kind: 'preview', update: of.update, changes }), 'preview');
      const now = usePreview.getState();
      if (now.of !== of || now.changes !== changes) continue;
      const preview = got.ok ? got.answer.preview : null;
      const reason = got.ok ? 'This update is no longer kept.' : got.message;
      usePreview.setState({ preview, refused: preview ? null : reason });
      useSelection.setState({ preview: preview && drawn(preview, of, config, changes) });
      return;
    }
  } finally {
    asking = false;
  }
}

/** Ends it: the batch is shown as it was again. */
export function endPreview(): void {
  if (usePreview.getState().changes) usePreview.setState(NOTHING);
  if (useSelection.getState().preview) useSelection.setState({ preview: null });
}

let keyed = false;

/** Whether the key M holds it: the pointer may go where it likes. */
export function isKeyed(): boolean {
  return keyed;
}

/** The key M: both masks, for only together they push at the tool's words; until the key is let go. */
export function pressPreview(): void {
  const { batchConfig: config } = live;
  if (!config || keyed) return;
  keyed = true;
  const onEnd = (event: Event) => {
    if (event instanceof KeyboardEvent && event.key.toLowerCase() !== 'm') return;
    removeEventListener('keyup', onEnd);
    removeEventListener('blur', onEnd);
    keyed = false;
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

/** Channels whose numbers a turned knob may change; any other is left for the pushes until it is chosen. */
const FOLLOWED: readonly Channel[] = ['advantage', 'gradient', 'kl'];

function drawn(
  { batch: preview, before }: Pick<BatchPreview, 'batch' | 'before'>,
  batch: BatchView,
  config: RunConfig,
  changes: Changes,
): ShownPreview {
  const { channel, preview: shown } = useSelection.getState();
  const one = (preview.passes?.length ?? 0) <= 1;
  return {
    ...{ of: batch, was: { ...batch, ...before }, batch: preview, config: { ...config, ...changes } },
    ...{ label: `If ${turnedWords(changes)}`, passes: one ? 'with every ratio at 1' : 'epoch by epoch' },
    channel: shown?.channel ?? (FOLLOWED.includes(channel) ? channel : 'gradient'),
  };
}

function turnedWords({ lossMask, advantageMask, ...others }: Changes): string {
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
