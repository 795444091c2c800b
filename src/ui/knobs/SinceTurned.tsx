import type { FieldName } from '../../config/fields.ts';
import { aroundChange } from '../../runs/aroundChange.ts';
import { lastTurned } from '../run/lastTurned.ts';
import { live, useLive } from '../run/liveStore.ts';
import { shownText } from '../run/metricText.ts';

const TOLD = ['rollout/success'] as const;

/** Under the knob that was turned last in a run: what success was right before and right after. It claims no cause. */
export function SinceTurned({ name }: { readonly name: FieldName }) {
  useLive((s) => s.flagsVersion);
  return lastTurned()?.knob === name ? <Around /> : null;
}

function Around() {
  useLive((s) => s.metricsVersion);
  const index = live.flags.length - 1;
  const { before, after, means } = aroundChange({ changes: live.flags, series: live.series }, index, TOLD);
  const [success] = means;
  if (!success) return null;
  return (
    <p className="knob-note" data-testid="since-turned">
      From update {live.flags[index]?.update}: success {shownText('rollout/success', success.before)} →{' '}
      {shownText('rollout/success', success.after)}, means of {before} before and {after} after.
    </p>
  );
}
