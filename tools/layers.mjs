// Who may import whom in src. ESLint, dependency-cruiser and test/layers.test.ts all read this table.

/**
 * @typedef {object} Layer
 * @property {string} name
 * @property {readonly string[]} files files, or folders with a slash at the end; the first layer that has a file owns it
 * @property {readonly string[]} imports layers it may import
 * @property {readonly string[]} [types] layers it may import types from
 */

/** @type {readonly Layer[]} */
export const LAYERS = [
  {
    name: 'leaf',
    files: [
      ...[
        'adapterReport',
        'algorithms',
        'backendInfo',
        'baselines',
        'checkpoint',
        'checksum',
        'commands',
        'config',
        'decimal',
        'envView',
        'estimators',
        'evaluated',
        'fieldDocs',
        'presetDocs',
        'fields',
        'health',
        'imitation',
        'inference',
        'kernelChoice',
        'luck',
        'keptUpdates',
        'metrics',
        'presets',
        'profile',
        'protocol',
        'recording',
        'rng',
        'tokens',
        'visible',
      ].map((n) => `src/${n}.ts`),
      'src/experiments/',
      'src/facts/',
    ],
    imports: ['leaf'],
  },
  { name: 'gpu', files: ['src/gpu/'], imports: ['leaf', 'gpu'] },
  { name: 'model', files: ['src/model/'], imports: ['leaf', 'gpu', 'model'] },
  { name: 'envs', files: ['src/envs/'], imports: ['leaf', 'envs'] },
  { name: 'rl', files: ['src/rl/'], imports: ['leaf', 'envs', 'rl'], types: ['model'] },
  { name: 'page', files: ['src/ui/main.tsx'], imports: ['leaf', 'ui'] }, // where the page starts: nobody imports it
  { name: 'ui', files: ['src/ui/'], imports: ['leaf', 'ui'] },
  {
    name: 'root', // puts the layers together; only another root may import it
    files: [
      'src/worker.ts',
      'src/session.ts',
      'src/errorEvent.ts',
      'src/faults.ts',
      'src/poison.ts',
      'src/runMeter.ts',
      'src/stageClock.ts',
      'src/inspection.ts',
      'src/lifeLock.ts',
      'src/lifeline.ts',
      'src/shippedFile.ts',
      'src/tuning.ts',
      'src/tuningStore.ts',
      'src/playTable.ts',
      'src/worlds.ts',
      'src/updateLog.ts',
      'src/analysis/',
      'src/cli/',
    ],
    imports: ['leaf', 'gpu', 'model', 'envs', 'rl', 'root'],
  },
];

/** The page names the worker by address only; nobody imports it. */
export const WORKER_ADDRESS = { from: 'src/ui/training-worker.ts', to: 'src/worker.ts' };

/** Regular expression source for a layer's files. @param {Layer} layer */
export const filesPattern = (layer) =>
  layer.files.map((entry) => (entry.endsWith('/') ? `^${entry}` : `^${entry.replaceAll('.', '\\.')}$`)).join('|');

/**
 * Every pair of layers without an import, or with imports of types only.
 * @returns {{ from: Layer, to: Layer, typesAllowed: boolean }[]}
 */
export const forbiddenImports = () =>
  LAYERS.flatMap((from) =>
    LAYERS.filter((to) => !from.imports.includes(to.name)).map((to) => ({
      from,
      to,
      typesAllowed: from.types?.includes(to.name) ?? false,
    })),
  );
