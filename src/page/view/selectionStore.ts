import { create } from 'zustand';
import type { RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { Channel } from '../rollout/channels.ts';
import type { CurveSet } from '../curves/curves.ts';
import type { LinkTarget } from '../address/hash.ts';
import { storedWord, storeWord } from '../browser/storedWord.ts';
import { notice } from '../browser/notices.ts';

export type Theme = 'system' | 'dark' | 'light';
export type Tab = 'watch' | 'curves' | 'tune';

/** A preview: the batch as its update would have treated it with other knob values. */
export interface ShownPreview {
  readonly previewedBatch: BatchView; // the batch in view, as it was trained
  // `previewedBatch` recomputed by the preview's code with unchanged knobs; the preview is compared with it
  readonly unchangedBatch: BatchView;
  readonly batch: BatchView;
  readonly config: RunConfig; // with the changed knobs
  readonly label: string;
  readonly ratios: string; // the probability ratios at which the pushes are computed, in words
  readonly channel: Channel; // channel to show during the preview
}

/** The tokens that the formula term or knob under the pointer acts on. The page highlights them. */
export interface HighlightedTokens {
  readonly marks: Uint8Array; // (B,T); a `TokenMark` (src/page/rollout/touchedTokens.ts) for each token
  readonly group: boolean; // whether the term compares the rollouts of a group, so that the group is highlighted too
}

interface SelectionState {
  readonly row: number;
  readonly token: number | null; // position in the row; null: none
  readonly turn: number | null; // null: the last one
  readonly beside: string; // the rollout that the chosen one is compared with; see hash.ts
  readonly channel: Channel;
  readonly shownUpdate: number | null; // update whose batch is shown; null: the newest batch, whichever that is
  readonly recorded: number | null; // chosen update of the recording; null: the one that plays
  readonly linkTarget: LinkTarget | null; // what the last link named: an update, rollout, turn or token
  readonly revealed: number | null; // tokens of the rollout shown while stepping; null: all
  readonly scale: StepScale;
  readonly branch: number | null; // the branch shown in place of the rollout; null: none
  readonly theme: Theme;
  readonly tab: Tab; // the lab's panel that a phone shows
  readonly help: boolean;
  readonly sharing: boolean; // the share dialog is open
  readonly singleKeys: boolean; // shortcuts without Ctrl are on
  readonly hide: string; // parts of the page that the link hides; see hash.ts
  readonly curves: CurveSet;
  readonly health: boolean; // the panel of the health monitor is open
  readonly preferring: boolean; // two rollouts are being compared
  readonly touring: boolean; // the tour is on
  readonly choosing: boolean; // a preset is being chosen
  readonly playing: boolean; // a task is being played by hand
  readonly preview: ShownPreview | null; // shown in place of the batch
  readonly highlighted: HighlightedTokens | null; // for the batch in view
}

const THEME_KEY = 'rollout-playground-theme';
const KEYS_KEY = 'rollout-playground-single-keys';

export const useSelection = create<SelectionState>()(() => ({
  row: 0,
  token: null,
  turn: null,
  beside: '',
  channel: 'mask',
  shownUpdate: null,
  recorded: null,
  linkTarget: null,
  revealed: null,
  scale: 'update',
  branch: null,
  theme: storedTheme(),
  tab: 'watch',
  help: false,
  sharing: false,
  singleKeys: storedKeys(),
  hide: '',
  curves: 'overview',
  health: false,
  preferring: false,
  playing: false,
  touring: false,
  choosing: false,
  preview: null,
  highlighted: null,
}));

/** Selects a rollout, and deselects token, turn and branch. */
export function selectRow(row: number): void {
  if (row !== useSelection.getState().row)
    useSelection.setState({ row, token: null, turn: null, revealed: null, branch: null });
}

/** Chooses the channel that colours the tokens, also in a preview. */
export function chooseChannel(channel: Channel): void {
  useSelection.setState(({ preview }) => ({ channel, preview: preview && { ...preview, channel } }));
}

export function selectToken(token: number | null, turn: number | null): void {
  useSelection.setState({ token, turn });
}

/** Sets the theme and stores it for the next visit. */
export function setTheme(theme: Theme): void {
  useSelection.setState({ theme });
  storeWord(THEME_KEY, theme);
}

/** Turns shortcuts without Ctrl on or off, and stores this for the next visit. */
export function setSingleKeys(singleKeys: boolean): void {
  useSelection.setState({ singleKeys });
  storeWord(KEYS_KEY, singleKeys ? 'on' : 'off');
}

function storedTheme(): Theme {
  const theme = storedWord(THEME_KEY);
  if (theme === 'dark' || theme === 'light' || theme === 'system') return theme;
  if (theme !== null)
    notice(`The saved theme could not be read (${theme.slice(0, 20)}). The page uses your system’s theme.`);
  return 'system';
}

function storedKeys(): boolean {
  const keys = storedWord(KEYS_KEY);
  if (keys !== null && keys !== 'on' && keys !== 'off') {
    notice(
      `The saved setting for single-key shortcuts could not be read (${keys.slice(0, 20)}). They are on; the help (?) turns them off.`,
    );
  }
  return keys !== 'off';
}

/**
 * How far one step goes. `token`, `turn` and `rollout` move within the batch in view, `batch` between kept batches.
 * `batch` past the newest one, `optimizer` and `update` train.
 */
export const STEP_SCALES = {
  token: { label: 'token', doc: 'Shows the rollout one token further.' },
  turn: { label: 'turn', doc: 'Shows the rollout one turn further.' },
  rollout: { label: 'rollout', doc: 'Shows the next rollout of the batch.' },
  batch: { label: 'batch', doc: 'Shows the next kept batch; after the newest, trains one.' },
  optimizer: { label: 'optimizer step', doc: 'Trains until the weights have changed once.' },
  update: { label: 'update', doc: 'Trains one update: a batch and all its optimizer steps.' },
} as const satisfies Record<string, { readonly label: string; readonly doc: string }>;
export type StepScale = keyof typeof STEP_SCALES;
