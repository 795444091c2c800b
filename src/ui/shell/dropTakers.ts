import { currentPlace, currentRoute } from '../address/route.ts';
import type { PlacedFile } from '../parts/placedFiles.ts';
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
const TABLE = /\.(csv|tsv)$/i;
const LOG = /^\s*\{\s*"(?:kind|update)"\s*:/; // of `npm run train`
const has = ({ files }: Dropped, name: RegExp) => files.some(({ path }) => name.test(path));

/** Who takes what is dropped: the first that knows it, by its contents, its names, or the screen it is dropped on. The last takes anything. */
const TAKERS: readonly Taker[] = [
  {
    takes: () => currentRoute() === 'learn' && /(^|\/)class$/.test(currentPlace()),
    take: async ({ files }) => (await import('../learn/classStore.ts')).addFiles(files),
  },
  {
    takes: (dropped) => dropped.head.startsWith('PK') || has(dropped, /\.(safetensors|gguf)$/i),
    take: async ({ name, files }) => {
      const models = await import('../models/open.ts');
      if (await models.isTextModel(files)) {
        const given = models.modelOf(files);
        // in the lab, where a run waits for one, it is what the run learns beside
        const { takeForRun } = await import('../models/train.ts');
        if (!given || currentRoute() !== 'lab' || !(await takeForRun(given))) models.openPlaced(files);
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
    takes: (dropped) => has(dropped, LINES) && (currentRoute() === 'runs' || LOG.test(dropped.head)),
    take: async ({ files }) => {
      if (currentRoute() !== 'runs') location.assign('#/runs');
      await (await import('../runs/openFiles.ts')).openFiles(files);
    },
  },
  {
    takes: (dropped) => (currentRoute() === 'rollouts' ? !has(dropped, TABLE) : has(dropped, LINES)),
    take: async ({ files }) => {
      (await import('../rollouts/open.ts')).openPlaced(files);
      if (currentRoute() !== 'rollouts') location.assign('#/rollouts');
    },
  },
  { takes: () => true, take: ({ files }) => takeFacts(files) },
];

/** Gives what was dropped to who knows it. */
export async function take(files: readonly PlacedFile[]): Promise<void> {
  const [first] = files;
  if (!first) return;
  const head = String.fromCharCode(...new Uint8Array(await first.file.slice(0, HEAD_BYTES).arrayBuffer()));
  const dropped = { name: first.path.replace(/\/.*/s, ''), files, head };
  await TAKERS.find(({ takes }) => takes(dropped))?.take(dropped);
}

/** A person's own facts; shows what was read, in the lab. */
async function takeFacts([first]: readonly PlacedFile[]): Promise<void> {
  if (!first) return;
  const { readFacts, useFacts } = await import('../knobs/factsStore.ts');
  await readFacts(first.file);
  if (currentRoute() !== 'lab') location.assign('#/lab');
  useSelection.setState({ tab: 'tune' }); // where a phone has the panel
  useFacts.setState((s) => ({ dropped: s.dropped + 1 }));
}
