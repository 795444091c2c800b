import { visible } from '../../base/visible.ts';
import { ProblemError } from '../../base/problem.ts';
import { currentSubpath, currentRoute } from '../address/route.ts';
import type { PlacedFile } from '../parts/placedFiles.ts';
import { notice } from './notices.ts';
import { fold } from './folds.ts';
import { useSelection } from './selectionStore.ts';

/** Files that were dropped together. */
interface Dropped {
  readonly name: string; // of the folder, or of the first file
  readonly files: readonly PlacedFile[];
  readonly head: string; // the first bytes of the first file, a letter each
}

interface Taker {
  readonly takes: (dropped: Dropped) => boolean;
  readonly take: (dropped: Dropped) => Promise<void>;
}

const HEAD_BYTES = 64;
const LINES = /\.(jsonl?|ndjson|parquet)$/i;
const OTHERS = /\.(png|jpe?g|gif|webp|avif|svg|bmp|pdf|mp4|mp3|wav|pkl|pickle|pt|pth|npy|npz|h5|docx?|xlsx?|exe|dll)$/i; // no rollouts
const TABLE = /\.(csv|tsv)$/i;
const TEXT = /\.txt$/i;
const PROGRAM = /\.(m?[jt]s|py)$/i; // nothing of it runs before a press
const TAB = 9;
const isText = (head: string) => Array.from(head).every((letter) => letter.charCodeAt(0) >= TAB);
const LOG = /^\s*\{\s*"(?:kind|update)"\s*:/; // of `npm run train`
const has = ({ files }: Dropped, name: RegExp) => files.some(({ path }) => name.test(path));

/** Who takes what is dropped: the first that knows it, by its contents, its names, or the screen it is dropped on. */
const TAKERS: readonly Taker[] = [
  {
    takes: () => currentRoute() === 'learn' && /(^|\/)class$/.test(currentSubpath()),
    take: async ({ files }) => (await import('../learn/classStore.ts')).addFiles(files),
  },
  {
    takes: (dropped) => dropped.head.startsWith('PK') || has(dropped, /\.(safetensors|gguf)$/i),
    take: async ({ name, files }) => {
      const models = await import('../models/openModel.ts');
      if (await models.isTextModel(files)) {
        const model = models.modelOf(files);
        // in the lab, where a run waits for one, it is what the run learns beside
        const { takeForRun } = await import('../models/trainModel.ts');
        if (!model || currentRoute() !== 'lab' || !(await takeForRun(model))) models.openPlaced(files);
        return;
      }
      const { importFiles } = await import('../checkpoints/importFolder.ts');
      await importFiles(
        name,
        files.map(({ file }) => file),
      );
    },
  },
  {
    takes: (dropped) => has(dropped, PROGRAM) && isText(dropped.head),
    take: async ({ files: [first] }) => {
      if (!first) return;
      await (await import('../environment/environmentStore.ts')).openFile(first.file);
      if (currentRoute() !== 'environment') location.assign('#/environment');
    },
  },
  {
    takes: (dropped) => has(dropped, LINES) && (currentRoute() === 'runs' || LOG.test(dropped.head)),
    take: async ({ files }) => {
      if (currentRoute() !== 'runs') location.assign('#/runs');
      await (await import('../runs/openFiles.ts')).openFiles(files);
    },
  },
  {
    takes: (dropped) =>
      has(dropped, LINES) || (currentRoute() === 'rollouts' && !has(dropped, TABLE) && !has(dropped, OTHERS)),
    take: async ({ files }) => {
      (await import('../rollouts/openRollouts.ts')).openPlaced(files);
      if (currentRoute() !== 'rollouts') location.assign('#/rollouts');
    },
  },
  {
    takes: (dropped) => has(dropped, TABLE) || (has(dropped, TEXT) && isText(dropped.head)),
    take: async ({ name, files: [first] }) => {
      if (!first) return;
      // a table is facts, mended or not; any other text only where each of its lines is one
      if (TABLE.test(first.path) || (await holdsFacts(first.file))) await takeFacts(first.file);
      else refuse(name);
    },
  },
];

/** Gives what was dropped to who knows it. */
export async function take(files: readonly PlacedFile[]): Promise<void> {
  const [first] = files;
  if (!first) return;
  const head = String.fromCharCode(...new Uint8Array(await first.file.slice(0, HEAD_BYTES).arrayBuffer()));
  const dropped = { name: first.path.replace(/\/.*/s, ''), files, head };
  const taker = TAKERS.find(({ takes }) => takes(dropped));
  if (taker) await taker.take(dropped);
  else refuse(dropped.name);
}

/** Says that nothing here reads it, and what can be dropped. */
function refuse(name: string): void {
  notice(
    `Nothing on this page reads “${visible(name, 48)}”. You can drop a model (GGUF, or a folder with safetensors), a saved run (zip), ` +
      'rollouts or a training log (JSON Lines or Parquet), facts (CSV: subject, relation, object), or an environment (TypeScript or Python).',
  );
}

async function holdsFacts(file: File): Promise<boolean> {
  const [{ parseFacts }, { checkSize }] = await Promise.all([
    import('../../facts/parse.ts'),
    import('../../facts/decode.ts'),
  ]);
  try {
    checkSize(file.size);
    parseFacts(file.name, new Uint8Array(await file.arrayBuffer()));
    return true;
  } catch (error) {
    if (error instanceof ProblemError) return false;
    throw error;
  }
}

/** A person's own facts; shows what was read, in the lab. */
async function takeFacts(file: File): Promise<void> {
  const { readFacts, useFacts } = await import('../knobs/factsStore.ts');
  await readFacts(file);
  if (currentRoute() !== 'lab') location.assign('#/lab');
  useSelection.setState({ tab: 'tune' }); // where a phone has the panel
  fold('controls', false);
  useFacts.setState((s) => ({ dropped: s.dropped + 1 }));
}
