import { lazy, Suspense, useState } from 'react';
import { useConfig } from './configStore.ts';
import { live, useLive } from '../run/liveStore.ts';
import { maskSentence } from './maskSentence.ts';
import { overrides } from '../../config/masks.ts';
import { invariants, judge } from './maskChecks.ts';
import { Icon } from '../parts/Icon.tsx';

const MaskDetails = lazy(() => import('./MaskDetails.tsx').then((m) => ({ default: m.MaskDetails })));

/** What the switches mean together, and behind a click: the four cells, what was counted, the six places. */
export function MaskPanel() {
  const sentence = useConfig((s) => maskSentence(s.wanted));
  const overridden = useConfig((s) => overrides(s.wanted).length);
  const [opened, setOpened] = useState(false);
  return (
    <>
      <p className="quote mask-sentence" aria-live="polite" data-testid="mask-sentence">
        {sentence}
      </p>
      <details
        className="subgroup"
        data-testid="mask-details"
        onToggle={(event) => {
          if (event.currentTarget.open) setOpened(true);
        }}
      >
        <summary>
          <h3>What the masks do</h3>
          <Held />
          {overridden > 0 && <span className="faint">{overridden} overridden</span>}
        </summary>
        {opened && (
          <Suspense>
            <MaskDetails />
          </Suspense>
        )}
      </details>
    </>
  );
}

/** Whether the last update kept to what its masks promise. */
function Held() {
  useLive((s) => s.metricsVersion);
  const { config, metrics } = live;
  const measured = config && invariants(config).filter(({ metric }) => metrics[metric] !== undefined);
  if (!measured || measured.length === 0) return null;
  const broken = measured.filter((each) => judge(each, metrics[each.metric] ?? 0) === 'broken').length;
  return (
    <span
      className="line end held-word"
      data-broken={broken > 0}
      title="Checks of the masks on the last update; open for each one"
    >
      <Icon name={broken > 0 ? 'alert' : 'check'} /> {broken > 0 ? `${broken} broken` : 'kept'}
    </span>
  );
}
