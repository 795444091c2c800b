import { signed } from '../parts/numberText.ts';
import { live } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { channelValue, type ChannelView } from './channels.ts';

const TOLD = [
  ['advantage', 'advantage'],
  ['push', 'gradient'],
] as const;

/** What is tried makes of the token at a flat index: its advantage and its push as they were and as they would be; nothing while nothing is tried. */
export function PreviewFacts({ i }: { readonly i: number }) {
  const preview = useSelection((s) => s.preview);
  if (preview?.of !== live.batch) return null;
  const row = Math.floor(i / preview.of.length);
  const was: ChannelView = { batch: preview.was, config: live.batchConfig, row, moved: null };
  const would = { ...was, batch: preview.batch, config: preview.config };
  const written = (view: ChannelView, channel: 'advantage' | 'gradient') => {
    const value = channelValue(view, channel, i);
    return value === undefined ? 'not in the loss' : signed(value);
  };
  return (
    <div className="card inspected" data-testid="tried-token">
      <p className="soft">
        {preview.label}, the push {preview.passes}:
      </p>
      {TOLD.map(([name, channel]) => (
        <p key={name} className="mono">
          {name} {written(was, channel)} → <b>{written(would, channel)}</b>
        </p>
      ))}
    </div>
  );
}
