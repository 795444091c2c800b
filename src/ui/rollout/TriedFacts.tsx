import { signed } from '../parts/numberText.ts';
import { live } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { channelValue, type ChannelView } from './channels.ts';

const TOLD = [
  ['advantage', 'advantage'],
  ['push', 'gradient'],
] as const;

/** What is tried makes of the token at a flat index: its advantage and its push as they were and as they would be; nothing while nothing is tried. */
export function TriedFacts({ i }: { readonly i: number }) {
  const ghost = useSelection((s) => s.ghost);
  if (ghost?.of !== live.batch) return null;
  const row = Math.floor(i / ghost.of.length);
  const was: ChannelView = { batch: ghost.was, config: live.batchConfig, row, moved: null };
  const would = { ...was, batch: ghost.batch, config: ghost.config };
  const written = (view: ChannelView, channel: 'advantage' | 'gradient') => {
    const value = channelValue(view, channel, i);
    return value === undefined ? 'not in the loss' : signed(value);
  };
  return (
    <div className="card inspected" data-testid="tried-token">
      <p className="soft">
        {ghost.label}, the push {ghost.passes}:
      </p>
      {TOLD.map(([name, channel]) => (
        <p key={name} className="mono">
          {name} {written(was, channel)} → <b>{written(would, channel)}</b>
        </p>
      ))}
    </div>
  );
}
