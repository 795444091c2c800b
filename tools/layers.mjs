// Who may import whom in src; tools/imports.mjs checks it.

/**
 * @typedef {object} Layer
 * @property {string} name
 * @property {readonly string[]} files files, or folders with a slash at the end; the first layer that has a file owns it
 * @property {readonly string[]} imports layers it may import
 * @property {readonly string[]} [types] layers it may import types from
 */

const WORDS = ['base', 'config', 'domain']; // what everyone may speak of
const RUNS = [...WORDS, 'facts', 'runs', 'wire', 'experiments', 'rollouts', 'hub', 'metricLogs']; // what the page, the worker and the command line share
const FOLDERS = ['formats', 'text', 'checkpoints', 'counterparts', 'handover']; // what is written for other programs

const OTHER_TYPES = ['text', 'written']; // the page may name types of these, which run elsewhere

/** What the page knows, in rooms: each may import those above it. */
const PAGE_ROOMS = [
  'browser', // what the browser gives: its storage, files, workers, notices, downloads
  'words', // numbers, verdicts and sentences made from data
  'rollout', // a rollout read for showing: kinds, channels, looks, pushes, advantages
  'curves', // series to plots: axes, scales, labels, what is in view of all charts
  'address', // screens, links, what a link holds
  'knobs', // settings of the run to be, their changes, presets
  'view', // what is in view: the run's state, its batches, the recording, what is selected
  'runs', // kept, saved and listed runs
  'training', // the run's worker: start, step, pause, ask, resume
  'experiments', // comparisons and experiments: several runs, trained beside
  'files', // rollout files, exports, checkpoints
  'models', // language models opened, downloaded, talked to, trained beside
  'environment', // the environment that a person writes
  'learn', // chapters, exercises, tour, class
  'stage', // the first screen, and the choice of a preset
  'share', // links, cards, clips
  'shell', // keys, drops, what the page tells of itself
];

/** The components, in rooms: each may import the page's rooms, the shared ones above it, and of the screens itself alone. */
const SHARED_ROOMS = ['styles', 'parts', 'drawings', 'charts', 'tokens', 'knobs', 'export', 'run', 'frame'];
// prettier-ignore
const SCREENS = ['lab', 'group', 'update', 'compare', 'profile', 'models', 'talk', 'rollouts', 'editor', 'learn', 'stage', 'play', 'share', 'tour', 'choice'];

const PAGE = PAGE_ROOMS.map((room) => `page/${room}`);
const SHARED = SHARED_ROOMS.map((room) => `ui/${room}`);
const ALL_SCREENS = SCREENS.map((room) => `ui/${room}`);

/** @param {string} name @param {readonly string[]} imports @returns {Layer} */
const pageLayer = (name, imports) => ({
  name,
  files: [`src/${name}/`],
  imports: [...RUNS, ...imports, name],
  types: OTHER_TYPES,
});

/** @type {readonly Layer[]} */
export const LAYERS = [
  { name: 'base', files: ['src/base/'], imports: ['base'] }, // random numbers, checksums, intervals, text: nothing of this project
  { name: 'formats', files: ['src/formats/'], imports: ['base', 'formats'] }, // files that other programs write and read
  { name: 'config', files: ['src/config/'], imports: ['base', 'config'] },
  { name: 'domain', files: ['src/domain/'], imports: WORDS },
  { name: 'text', files: ['src/text/'], imports: [...WORDS, 'formats', 'text'] }, // what words and bytes are to a model of ids
  { name: 'facts', files: ['src/facts/'], imports: ['base', 'facts'] },
  { name: 'gpu', files: ['src/gpu/'], imports: ['gpu'] },
  { name: 'model', files: ['src/model/'], imports: [...WORDS, 'formats', 'gpu', 'model'] },
  { name: 'envs', files: ['src/envs/'], imports: [...WORDS, 'facts', 'text', 'envs'] },
  { name: 'written', files: ['src/written/'], imports: [...WORDS, 'text', 'envs', 'written'] }, // environments that a person writes
  { name: 'openenv', files: ['src/openenv/'], imports: [...WORDS, 'text', 'envs', 'openenv'] }, // environments that a server plays
  { name: 'rl', files: ['src/rl/'], imports: [...WORDS, 'envs', 'rl'], types: ['model'] },
  { name: 'runs', files: ['src/runs/'], imports: [...WORDS, 'facts', 'runs'] },
  { name: 'rollouts', files: ['src/rollouts/'], imports: [...WORDS, 'formats', 'rollouts'] }, // of this project and of others, out and in
  { name: 'hub', files: ['src/hub/'], imports: ['base', 'hub'] }, // models fetched from where they are published
  {
    name: 'wire',
    files: ['src/wire/'],
    imports: [...WORDS, 'facts', 'runs', 'rollouts', 'hub', 'wire'],
    types: ['metricLogs'],
  },
  { name: 'experiments', files: ['src/experiments/'], imports: [...WORDS, 'facts', 'runs', 'wire', 'experiments'] },
  {
    name: 'metricLogs', // metrics that other programs logged, and what they show
    files: ['src/metricLogs/'],
    imports: [...WORDS, 'formats', 'rl', 'runs', 'rollouts', 'experiments', 'metricLogs'],
  },
  {
    name: 'checkpoints', // a model as a folder that other programs open
    files: ['src/checkpoints/'],
    imports: [...WORDS, 'facts', 'runs', 'formats', 'text', 'model', 'checkpoints'],
  },
  {
    name: 'counterparts', // each knob's settings in other trainers
    files: ['src/handover/mapping.ts', 'src/handover/counterparts.ts', 'src/handover/theirSettings.ts'],
    imports: ['base', 'config', 'counterparts'],
  },
  {
    name: 'handover', // an environment as a folder that other programs train on
    files: ['src/handover/'],
    imports: [
      ...WORDS,
      'facts',
      'runs',
      'formats',
      'text',
      'envs',
      'written',
      'rl',
      'model',
      'checkpoints',
      'counterparts',
      'handover',
    ],
  },
  {
    name: 'speaking', // a checkpoint from elsewhere that is talked to
    files: ['src/speaking/'],
    imports: [...WORDS, 'facts', 'formats', 'text', 'gpu', 'model', 'envs', 'checkpoints', 'wire', 'speaking'],
  },
  { name: 'start', files: ['src/ui/main.tsx'], imports: [...RUNS, ...PAGE, 'ui/styles', 'ui/embed', 'ui/shell'] }, // where the page starts: nobody imports it
  {
    name: 'notebook',
    files: ['src/ui/notebook.tsx'],
    imports: [...PAGE, ...SHARED, 'ui/rollouts', 'ui/embed', 'ui/shell'],
  }, // where the viewer of a notebook starts
  ...PAGE.map((name, i) => pageLayer(name, [...PAGE.slice(0, i), ...(name === 'page/files' ? ['counterparts'] : [])])),
  ...SHARED.map((name, i) => pageLayer(name, [...PAGE, ...SHARED.slice(0, i)])),
  ...ALL_SCREENS.map((name) => pageLayer(name, [...PAGE, ...SHARED, ...(name === 'ui/learn' ? ['counterparts'] : [])])),
  pageLayer('ui/embed', [...PAGE, ...SHARED, ...ALL_SCREENS]), // one panel in a frame of another page
  pageLayer('ui/shell', [...PAGE, ...SHARED, ...ALL_SCREENS]), // the page around its screens
  {
    name: 'session', // puts a run together
    files: ['src/session/', 'src/analysis/'],
    imports: [...RUNS, ...FOLDERS, 'gpu', 'model', 'envs', 'rl', 'session'],
  },
  {
    name: 'worker', // runs it for the page
    files: [
      'src/worker.ts',
      'src/reader.ts',
      'src/speaker.ts',
      'src/downloader.ts',
      'src/examiner.ts',
      'src/python.ts',
      'src/worker/',
    ],
    imports: [...RUNS, ...FOLDERS, 'gpu', 'model', 'envs', 'rl', 'written', 'openenv', 'speaking', 'session', 'worker'],
  },
  {
    name: 'cli', // runs it for the command line
    files: ['src/cli/'],
    imports: [
      ...RUNS,
      ...FOLDERS,
      'gpu',
      'model',
      'envs',
      'rl',
      'written',
      'openenv',
      'speaking',
      'session',
      'worker',
      'cli',
    ],
  },
];

/** The page names its workers by address only, and these their helpers; nobody imports them. */
export const WORKER_ADDRESSES = [
  { from: 'src/page/training/runClient.ts', to: 'src/worker.ts' },
  { from: 'src/page/files/readerClient.ts', to: 'src/reader.ts' },
  { from: 'src/page/models/modelStore.ts', to: 'src/speaker.ts' },
  { from: 'src/page/models/downloads.ts', to: 'src/downloader.ts' },
  { from: 'src/page/environment/examine.ts', to: 'src/examiner.ts' },
  { from: 'src/worker/pageThreads.ts', to: 'src/worker/helper.ts' },
  { from: 'src/worker/ownEnvironmentOpener.ts', to: 'src/python.ts' },
];
