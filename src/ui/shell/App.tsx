// what several screens draw with: always there, and what comes later holds over what comes before
import '../parts/parts.css';
import './shell.css';
import '../frame/header.css';
import '../frame/status.css';
import '../knobs/knobs.css';
import '../run/run.css';
import '../drawings/drawings.css';
import '../tokens/tokens.css';
import '../run/dock.css';
import '../charts/cards.css';
import './hide.css';
import { type ComponentType, lazy, Suspense, useEffect, useLayoutEffect, useRef, type ReactNode } from 'react';
import { useRoute } from '../../page/address/route.ts';
import { fullLabel, type Route, type Place, SCREENS, PLACE_LIST } from '../../page/address/screens.ts';
import { Lab } from '../lab/Lab.tsx';
import { useLive } from '../../page/view/liveStore.ts';
import { Boundary } from '../parts/Boundary.tsx';
import { useFolds } from '../../page/view/folds.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { writeTitle } from '../../page/view/pageTitle.ts';
import { useAddress } from '../../page/view/address.ts';
import { useNewVersion } from '../../page/browser/newVersion.ts';
import { ReloadButton } from '../parts/ReloadButton.tsx';
import { dismissNotices, useNotices } from '../../page/browser/notices.ts';
import './notices.css';

// not needed to read the page, so loaded after the first paint
const AddressNotes = lazy(() => import('../frame/AddressNotes.tsx').then((m) => ({ default: m.AddressNotes })));
const Announcer = lazy(() => import('./Announcer.tsx').then((m) => ({ default: m.Announcer })));
const PresetDialog = lazy(() => import('../choice/PresetDialog.tsx').then((m) => ({ default: m.PresetDialog })));
const HelpSheet = lazy(() => import('./HelpSheet.tsx').then((m) => ({ default: m.HelpSheet })));
const ImportDialog = lazy(() => import('./ImportDialog.tsx').then((m) => ({ default: m.ImportDialog })));
const PlayDialog = lazy(() => import('../play/PlayDialog.tsx').then((m) => ({ default: m.PlayDialog })));
const Tour = lazy(() => import('../tour/Tour.tsx').then((m) => ({ default: m.Tour })));

/** The component of each screen in `address/screens.ts`. All except the lab are loaded when they are opened. */
const COMPONENTS: Readonly<Record<Route, ComponentType>> = {
  stage: lazy(() => import('../stage/Stage.tsx').then((m) => ({ default: m.Stage }))),
  lab: Lab,
  group: lazy(() => import('../group/Group.tsx').then((m) => ({ default: m.Group }))),
  update: lazy(() => import('../update/Update.tsx').then((m) => ({ default: m.Update }))),
  talk: lazy(() => import('../talk/Talk.tsx').then((m) => ({ default: m.Talk }))),
  models: lazy(() => import('../models/Models.tsx').then((m) => ({ default: m.Models }))),
  train: lazy(() => import('../models/TrainScreen.tsx').then((m) => ({ default: m.TrainScreen }))),
  runs: lazy(() => import('../compare/Runs.tsx').then((m) => ({ default: m.Runs }))),
  forks: lazy(() => import('../compare/Forks.tsx').then((m) => ({ default: m.Forks }))),
  rollouts: lazy(() => import('../rollouts/Rollouts.tsx').then((m) => ({ default: m.Rollouts }))),
  experiments: lazy(() => import('../compare/Experiments.tsx').then((m) => ({ default: m.Experiments }))),
  profile: lazy(() => import('../profile/Profile.tsx').then((m) => ({ default: m.Profile }))),
  environment: lazy(() => import('../editor/Environment.tsx').then((m) => ({ default: m.Environment }))),
  learn: lazy(() => import('../learn/Learn.tsx').then((m) => ({ default: m.Learn }))),
  answers: lazy(() => import('../learn/Answers.tsx').then((m) => ({ default: m.Answers }))),
};

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
      data-place={SCREENS[route].place}
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
            <PresetDialog />
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

function Tabs() {
  return (
    <nav className="tabs" aria-label="Places">
      <PlaceLinks
        icon={(place) => (
          <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
            <path d={PLACE_ICONS[place]} />
          </svg>
        )}
      />
    </nav>
  );
}

/** SVG paths of the icons in a phone's bar (24 × 24). */
const PLACE_ICONS: Readonly<Record<Place, string>> = {
  lab: 'M9 3h6M10 3v6L5 19a1.5 1.5 0 0 0 1.4 2h11.2a1.5 1.5 0 0 0 1.4-2L14 9V3',
  compare: 'M4 18c5 0 5-11 10-11h6M4 18c6 0 8-5 16-5',
  models: 'M4 8l8-4 8 4-8 4zM4 12l8 4 8-4M4 16l8 4 8-4',
  rollouts: 'M6 3h8l5 5v13H6zM14 3v5h5M9 12h7M9 16h7',
  learn: 'M4 5c4-1 6 0 8 2 2-2 4-3 8-2v13c-4-1-6 0-8 2-2-2-4-3-8-2zM12 7v13',
};

export function Nav() {
  const nav = useRef<HTMLElement>(null);
  // the links lie over the header, so it needs their width, which depends on the reader's font
  useLayoutEffect(() => {
    const box = nav.current;
    if (!box) return;
    const reserveWidth = () => box.parentElement?.style.setProperty('--screens', `${box.offsetWidth}px`);
    reserveWidth();
    const observer = new ResizeObserver(reserveWidth);
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  return (
    <nav className="segments screens" aria-label="Places" ref={nav}>
      <PlaceLinks />
    </nav>
  );
}

/** The first Tab stop, visible only while focused. Leads to the navigation, which comes last in the document. */
export function SkipLink() {
  const route = useRoute();
  const address = useAddress();
  return (
    <a
      className="skip-link"
      href={address(route)}
      onClick={(event) => {
        event.preventDefault();
        // only one of the two bars is visible: .tabs on a phone, otherwise .screens
        const links = document.querySelectorAll<HTMLElement>('nav:is(.screens, .tabs) > [aria-current="page"]');
        [...links].find((link) => link.getClientRects().length > 0)?.focus();
      }}
    >
      Skip to navigation
    </a>
  );
}

export function Notices() {
  const sentences = useNotices((s) => s.sentences);
  const isNew = useNewVersion((s) => s.isThere);
  return (
    <div role="status" className="float notices" data-testid="notices">
      {isNew && (
        <div className="row" data-testid="new-version">
          <span>There is a new version of this page. Parts of the old one are gone.</span>
          <ReloadButton />
        </div>
      )}
      {sentences.length > 0 && (
        <>
          <ul>
            {sentences.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
          <button type="button" onClick={dismissNotices}>
            Dismiss
          </button>
        </>
      )}
    </div>
  );
}

interface PlaceLinksProps {
  readonly icon?: (place: Place) => ReactNode;
}

/** A link to the first view of each place. The link keeps the knobs and what is selected. */
function PlaceLinks({ icon }: PlaceLinksProps) {
  const route = useRoute();
  const currentPlace = route === 'stage' ? null : SCREENS[route].place; // the start screen belongs to no place
  const address = useAddress();
  return PLACE_LIST.map(({ place, label, doc, views: [first] }) => (
    <a
      key={place}
      href={first && address(first)}
      title={doc}
      aria-current={place === currentPlace ? 'page' : undefined}
      data-place={place}
    >
      {icon?.(place)}
      {label}
    </a>
  ));
}
