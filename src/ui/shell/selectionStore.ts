import { create } from 'zustand';
import type { RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { Channel } from '../rollout/channels.ts';
import type { CurveSet } from '../curves/curves.ts';
import type { Pointed } from '../address/hash.ts';
import { storedWord, storeWord } from '../parts/storedWord.ts';
import { notice } from './notices.ts';
import type { StepScale } from '../run/stepScales.ts';

export type Theme = 'system' | 'dark' | 'light';
export type Tab = 'watch' | 'curves' | 'tune';

/** A batch as its update would have treated it with knobs turned. */
export interface ShownPreview {
  readonly of: BatchView;
  readonly was: BatchView; // `of` as its own knobs make it by the same arithmetic: what the preview is compared with
  readonly batch: BatchView;
  readonly config: RunConfig; // with the knobs turned
  readonly label: string;
  readonly passes: string; // at which ratios its pushes are, in words
  readonly channel: Channel; // shown while it is held
}

/** Tokens that the term or the knob pointed at touches. */
export interface Lit {
  readonly marks: Uint8Array; // (B,T); src/ui/formula/touchedTokens.ts says what each is
  readonly group: boolean; // the rollouts of the task in view are compared
}

interface SelectionState {
  readonly row: number;
  readonly token: number | null; // position in the row; null: none
  readonly turn: number | null; // null: the last one
  readonly channel: Channel;
  readonly shownUpdate: number | null; // update whose batch is shown; null: each new one as it comes
  readonly recorded: number | null; // update of the recording that was chosen to be shown; null: whichever plays
  readonly pointed: Pointed | null; // what the address asked to look at, for as long as nothing else is chosen
  readonly revealed: number | null; // tokens of the rollout shown while stepping; null: all
  readonly scale: StepScale;
  readonly branch: number | null; // the branch shown in place of the rollout
  readonly theme: Theme;
  readonly tab: Tab; // on a phone
  readonly help: boolean;
  readonly sharing: boolean; // the link is being made
  readonly singleKeys: boolean; // keys without Ctrl act
  readonly hide: string; // see hash.ts
  readonly curves: CurveSet;
  readonly health: boolean; // its panel is open
  readonly preferring: boolean; // two rollouts are being compared
  readonly touring: boolean; // the tour is on
  readonly choosing: boolean; // a preset is being chosen
  readonly playing: boolean; // a task is being played by hand
  readonly preview: ShownPreview | null; // shown in place of the batch while it is held
  readonly lit: Lit | null; // of the batch in view
}

const THEME_KEY = 'rollout-playground-theme';
const KEYS_KEY = 'rollout-playground-single-keys';

/** What the reader looks at. */
export const useSelection = create<SelectionState>()(() => ({
  row: 0,
  token: null,
  turn: null,
  channel: 'mask',
  shownUpdate: null,
  recorded: null,
  pointed: null,
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
  lit: null,
}));

/** Chooses a rollout; token and turn start over. */
export function selectRow(row: number): void {
  if (row !== useSelection.getState().row)
    useSelection.setState({ row, token: null, turn: null, revealed: null, branch: null });
}

/** Chooses what the fill of the tokens says, of what is tried on them too. */
export function chooseChannel(channel: Channel): void {
  useSelection.setState(({ preview }) => ({ channel, preview: preview && { ...preview, channel } }));
}

/** Chooses a token and with it its turn. */
export function selectToken(token: number | null, turn: number | null): void {
  useSelection.setState({ token, turn });
}

/** Sets the theme and keeps it for the next visit. */
export function setTheme(theme: Theme): void {
  useSelection.setState({ theme });
  storeWord(THEME_KEY, theme);
}

/** Turns the keys that need no Ctrl on or off, and keeps that for the next visit. */
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
