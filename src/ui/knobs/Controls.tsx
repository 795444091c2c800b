import { lazy, Suspense } from 'react';

// nothing of it is needed to read the page: it comes right after the first paint
const ControlPanels = lazy(() => import('./ControlPanels.tsx').then((m) => ({ default: m.ControlPanels })));

/** The column of everything that can be changed. */
export function Controls() {
  return (
    <section className="controls pane" aria-label="Controls" data-pane="tune">
      <Suspense>
        <ControlPanels />
      </Suspense>
    </section>
  );
}
