import { type ComponentType, lazy, Suspense, useEffect } from 'react';
import { useRoute } from '../address/route.ts';
import { fullLabel, type Route } from '../address/screens.ts';
import { Lab } from '../lab/Lab.tsx';
import { useLive } from '../run/liveStore.ts';
import { Boundary } from './Boundary.tsx';
import { useFolds } from './folds.ts';
import { Nav } from './Nav.tsx';
import { Notices } from './Notices.tsx';
import { useSelection } from './selectionStore.ts';
import { writeTitle } from './pageTitle.ts';
import { SkipLink } from './SkipLink.tsx';
import { Tabs } from './Tabs.tsx';

// none of these is needed to read the page: they come after the first paint
const AddressNotes = lazy(() => import('./AddressNotes.tsx').then((m) => ({ default: m.AddressNotes })));
const Announcer = lazy(() => import('./Announcer.tsx').then((m) => ({ default: m.Announcer })));
const ChoiceDialog = lazy(() => import('../choice/ChoiceDialog.tsx').then((m) => ({ default: m.ChoiceDialog })));
const HelpSheet = lazy(() => import('./HelpSheet.tsx').then((m) => ({ default: m.HelpSheet })));
const ImportDialog = lazy(() => import('../checkpoints/ImportDialog.tsx').then((m) => ({ default: m.ImportDialog })));
const PlayDialog = lazy(() => import('../play/PlayDialog.tsx').then((m) => ({ default: m.PlayDialog })));
const Tour = lazy(() => import('../tour/Tour.tsx').then((m) => ({ default: m.Tour })));

/** What each screen of `address/screens.ts` draws; all but the lab are loaded when they are opened. */
const COMPONENTS: Readonly<Record<Route, ComponentType>> = {
  stage: lazy(() => import('../stage/Stage.tsx').then((m) => ({ default: m.Stage }))),
  lab: Lab,
  group: lazy(() => import('../group/Group.tsx').then((m) => ({ default: m.Group }))),
  update: lazy(() => import('../update/Update.tsx').then((m) => ({ default: m.Update }))),
  talk: lazy(() => import('../talk/Talk.tsx').then((m) => ({ default: m.Talk }))),
  models: lazy(() => import('../models/Models.tsx').then((m) => ({ default: m.Models }))),
  train: lazy(() => import('../models/Train.tsx').then((m) => ({ default: m.Train }))),
  runs: lazy(() => import('../runs/Runs.tsx').then((m) => ({ default: m.Runs }))),
  forks: lazy(() => import('../comparisons/Forks.tsx').then((m) => ({ default: m.Forks }))),
  rollouts: lazy(() => import('../rollouts/Rollouts.tsx').then((m) => ({ default: m.Rollouts }))),
  experiments: lazy(() => import('../experiments/Experiments.tsx').then((m) => ({ default: m.Experiments }))),
  profile: lazy(() => import('../profile/Profile.tsx').then((m) => ({ default: m.Profile }))),
  environment: lazy(() => import('../environment/Environment.tsx').then((m) => ({ default: m.Environment }))),
  learn: lazy(() => import('../learn/Learn.tsx').then((m) => ({ default: m.Learn }))),
};

/** The page: one screen at a time, and the way to the other. */
export function App() {
  const theme = useSelection((s) => s.theme);
  const tab = useSelection((s) => s.tab);
  const help = useSelection((s) => s.help);
  const hide = useSelection((s) => s.hide);
  const folded = useFolds((s) => s.controls);
  const playing = useSelection((s) => s.playing);
  const touring = useSelection((s) => s.touring);
  const choosing = useSelection((s) => s.choosing);
  const route = useRoute();
  const Screen = COMPONENTS[route];
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  useEffect(() => writeTitle(useLive.getState().update), [route]);
  return (
    <div
      className="lab"
      data-tab={tab}
      data-screen={route}
      data-hide={hide.replaceAll(',', ' ')}
      data-folded={folded ? 'controls' : undefined}
    >
      <SkipLink />
      <Boundary key={route} name={`The screen “${fullLabel(route)}”`} area="1 / 1 / -1 / -1">
        <Suspense fallback={<main aria-busy="true" />}>
          <Screen />
        </Suspense>
      </Boundary>
      <Nav />
      <Notices />
      <Boundary name="Something beside this screen">
        <Tabs />
        {help && (
          <Suspense>
            <HelpSheet />
          </Suspense>
        )}
        {choosing && (
          <Suspense>
            <ChoiceDialog />
          </Suspense>
        )}
        {playing && (
          <Suspense>
            <PlayDialog />
          </Suspense>
        )}
        {touring && (
          <Suspense>
            <Tour />
          </Suspense>
        )}
        <Suspense>
          <AddressNotes />
          <Announcer />
          <ImportDialog />
        </Suspense>
      </Boundary>
    </div>
  );
}
