import { FIELDS, type Field, type RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import { channelScale } from './channels.ts';
import { reply } from '../run/inspect.ts';
import { live, useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { question } from '../run/transport.ts';

const SWITCHES = ['lossMask', 'advantageMask'] as const;
type Switch = (typeof SWITCHES)[number] | 'masks';
const LINGER_MS = 250; // a pointer that only passes by asks for nothing

let wanted: Switch | null = null;
let keyed = false; // held by the key: the pointer may go where it likes

/** The key M: both masks, for only together they push at the tool's words; until the key is let go. */
export function pressGhost(): void {
  keyed = true;
  void holdGhost('masks');
}

/** Shows what the update in view would have pushed with a switch turned, as long as it is held. Nothing learns from it. */
async function holdGhost(flipped: Switch): Promise<void> {
  if (wanted === flipped) return;
  wanted = flipped;
  const { batch, batchConfig: config } = live;
  if (!config || (!live.isExample && useLive.getState().update < batch.update)) return;
  const got = reply(await question({ kind: 'ghost', update: batch.update, changes: {} }), 'ghost');
  if (wanted !== flipped || !got.ok || !got.answer.ghost) return;
  const { ghost } = got.answer;
  const [here, there] = [firstPass(batch), ghost].map((each) =>
    channelScale({ batch: each, config, row: 0, moved: null }, 'gradient'),
  );
  const label = `If ${turnedWords(flipped, config)}, at the first pass`;
  useSelection.setState({ ghost: { of: batch, batch: ghost, scale: Math.max(here ?? 0, there ?? 0), label } });
}

/** A batch as its first pass saw it, where that is kept: what a ghost is held against. */
function firstPass(batch: BatchView): BatchView {
  const first = batch.passes?.[0];
  return first ? { ...batch, passes: [first] } : batch;
}

function turnedWords(flipped: Switch, config: RunConfig): string {
  if (flipped === 'masks') {
    return config.lossMask === 'off' && config.advantageMask === 'off' ? 'both masks were on' : 'both masks were off';
  }
  const field: Field = FIELDS[flipped];
  return `${field.label.toLowerCase()} were ${config[flipped] === 'on' ? 'off' : 'on'}`;
}

function release(): void {
  wanted = null;
  keyed = false;
  if (useSelection.getState().ghost) useSelection.setState({ ghost: null });
}

/** The switch that an event is about, if it is one of the two. */
function switchOf({ target }: Event): (typeof SWITCHES)[number] | undefined {
  const label = target instanceof Element ? target.closest('[role="switch"]')?.ariaLabel : undefined;
  return SWITCHES.find((name) => FIELDS[name].label === label);
}

/** Follows the key M and the two switches: held, pointed at or reached by keyboard. Returns a function that stops. */
export function bindGhost(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onOver = (event: Event) => {
    clearTimeout(timer);
    if (keyed) return;
    const name = switchOf(event);
    if (name) timer = setTimeout(() => void holdGhost(name), LINGER_MS);
    else if (event.type !== 'focusin') release();
  };
  const onFocus = (event: Event) => {
    const shown = event.target instanceof Element && event.target.matches(':focus-visible');
    if (shown && switchOf(event)) onOver(event);
  };
  const onEnd = (event: Event) => {
    clearTimeout(timer);
    if (switchOf(event)) release();
  };
  const onKeyUp = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() === 'm') release();
  };
  const listeners = [
    ['mouseover', onOver],
    ['focusin', onFocus],
    ['focusout', onEnd],
    ['click', onEnd], // what was tried has become a choice
  ] as const;
  for (const [type, listener] of listeners) addEventListener(type, listener);
  addEventListener('keyup', onKeyUp);
  addEventListener('blur', release);
  return () => {
    clearTimeout(timer);
    release();
    for (const [type, listener] of listeners) removeEventListener(type, listener);
    removeEventListener('keyup', onKeyUp);
    removeEventListener('blur', release);
  };
}
