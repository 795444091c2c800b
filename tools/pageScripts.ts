import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * What comes after the first paint: modules whose code, with all that they import, is one script of the built page. Apart, the lab's are
 * ninety scripts, and a browser takes longer to ask for each than to run it. A screen that needs one module of a script loads all of it.
 */
const SCRIPTS = {
  // every screen
  page: [
    'page/view/player.ts',
    'page/training/engine.ts',
    'page/shell/keyboard.ts',
    'page/shell/drop.ts',
    'page/shell/snapshot.ts',
    'ui/shell/Announcer.tsx',
    'ui/shell/ImportDialog.tsx',
    'ui/frame/AddressNotes.tsx',
    'ui/frame/StatusLine.tsx',
    'ui/frame/RecordedUpdates.tsx',
    'ui/charts/SuccessCurve.tsx',
    'ui/drawings/NumberLine.tsx',
    'ui/parts/RewardSplit.tsx',
    'page/training/inspect.ts',
    'page/training/runAnswers.ts',
    'page/curves/curves.ts',
  ],
  // several screens
  shown: [
    'ui/charts/ChartCard.tsx',
    'ui/charts/ChartSurface.tsx',
    'ui/charts/Crosshair.tsx',
    'ui/charts/ViewControls.tsx',
    'ui/tokens/RunDistribution.tsx',
    'ui/charts/BeforeAfterChange.tsx',
    'ui/charts/ChangeList.tsx',
    'page/view/frame.ts',
    'ui/parts/typeset.tsx',
    'ui/run/ResumeCard.tsx',
    'ui/parts/CodeText.tsx',
    'page/view/markedUpdate.ts',
    'page/models/traineeText.ts',
    'config/formula.ts',
    'config/presetCards.ts',
  ],
  // the lab; the other views of its run and Learn show parts of it
  lab: [
    'ui/run/Inspector.tsx',
    'ui/run/Dock.tsx',
    'ui/run/RunBanner.tsx',
    'ui/run/LinkedPlan.tsx',
    'ui/run/NoRollouts.tsx',
    'ui/lab/Replay.tsx',
    'ui/knobs/ControlPanels.tsx',
    'ui/knobs/FormulaDock.tsx',
    'ui/knobs/FactsPanel.tsx',
  ],
};

/** The file of a module, as Rolldown names it. */
function placeOf(module: string): string {
  const place = fileURLToPath(new URL(`../src/${module}`, import.meta.url));
  if (!existsSync(place)) throw new Error(`tools/pageScripts.ts: src/${module} isn’t there`);
  return place.replaceAll('\\', '/');
}

/** For Rolldown: the scripts above, in an order in which each imports only those before it. */
export const scriptGroups = Object.entries(SCRIPTS).map(([name, modules]) => {
  const places = new Set(modules.map(placeOf));
  return { name, test: (id: string) => places.has(id) };
});
