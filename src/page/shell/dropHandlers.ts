import { visible } from '../../base/visible.ts';
import { ProblemError } from '../../base/problem.ts';
import { isMetricLog, logHead } from '../../metricLogs/logFiles.ts';
import { ROLLOUT_FILE } from '../../rollouts/fileRefusal.ts';
import { currentSubpath, currentRoute } from '../address/route.ts';
import type { FileWithPath } from '../browser/filesWithPaths.ts';
import { notice } from '../browser/notices.ts';
import { fold } from '../view/folds.ts';
import { useSelection } from '../view/selectionStore.ts';

interface Dropped {
  readonly name: string; // of the folder, or of the first file
  readonly files: readonly FileWithPath[];
  readonly head: string; // the first bytes of the first file, one character per byte
  readonly content: string; // the same, unpacked if it is compressed
}

interface DropHandler {
  readonly accepts: (dropped: Dropped) => boolean;
  readonly open: (dropped: Dropped) => Promise<void>;
}

const HEAD_BYTES = 64;
// files without rollouts
const NOT_ROLLOUTS =
  /\.(png|jpe?g|gif|webp|avif|svg|bmp|pdf|mp4|mp3|wav|pkl|pickle|pt|pth|npy|npz|h5|docx?|xlsx?|exe|dll)$/i;
const TABLE = /\.(csv|tsv)$/i;
const TEXT = /\.txt$/i;
const PROGRAM = /\.(m?[jt]s|py)$/i; // opened in the editor; it runs only when a button is pressed
const TAB_CODE = 9;
const isText = (head: string) => Array.from(head).every((character) => character.charCodeAt(0) >= TAB_CODE);
const has = ({ files }: Dropped, name: RegExp) => files.some(({ path }) => name.test(path));

/** The first handler that accepts the files opens them. Handlers go by the contents, the file names and the current screen. */
const HANDLERS: readonly DropHandler[] = [
  {
    accepts: () => currentRoute() === 'learn' && /(^|\/)class$/.test(currentSubpath()),
    open: async ({ files }) => (await import('../learn/classStore.ts')).addFiles(files),
  },
  {
    accepts: (dropped) => dropped.head.startsWith('PK') || has(dropped, /\.(safetensors|gguf)$/i),
    open: async ({ name, files }) => {
      const models = await import('../models/openModel.ts');
      if (await models.isTextModel(files)) {
        const model = models.modelOf(files);
        // in the lab a run may be waiting for this checkpoint, to train adapters for it
        const { passToRun: takeForRun } = await import('../models/trainModel.ts');
        if (!model || currentRoute() !== 'lab' || !(await takeForRun(model))) models.openPlaced(files);
        return;
      }
      const { importFiles } = await import('../files/importFolder.ts');
      await importFiles(
        name,
        files.map(({ file }) => file),
      );
    },
  },
  {
    accepts: (dropped) => has(dropped, PROGRAM) && isText(dropped.head),
    open: async ({ files: [first] }) => {
      if (!first) return;
      await (await import('../environment/environmentStore.ts')).openFile(first.file);
      if (currentRoute() !== 'environment') location.assign('#/environment');
    },
  },
  {
    accepts: (dropped) =>
      dropped.files.some(({ path }) => isMetricLog(path, dropped.content)) ||
      (currentRoute() === 'runs' && [ROLLOUT_FILE, TABLE, TEXT].some((name) => has(dropped, name))),
    open: async ({ files }) => {
      if (currentRoute() !== 'runs') location.assign('#/runs');
      await (await import('../files/openFiles.ts')).openFiles(files);
    },
  },
  {
    accepts: (dropped) =>
      has(dropped, ROLLOUT_FILE) ||
      (currentRoute() === 'rollouts' && !has(dropped, TABLE) && !has(dropped, NOT_ROLLOUTS)),
    open: async ({ files }) => {
      (await import('../files/openRollouts.ts')).openPlaced(files);
      if (currentRoute() !== 'rollouts') location.assign('#/rollouts');
    },
  },
  {
    accepts: (dropped) => has(dropped, TABLE) || (has(dropped, TEXT) && isText(dropped.head)),
    open: async ({ name, files: [first] }) => {
      if (!first) return;
      // a CSV or TSV file is read as facts even if it has errors; other text only if it can be read as facts
      if (TABLE.test(first.path) || (await holdsFacts(first.file))) await takeFacts(first.file);
      else refuse(name);
    },
  },
];

/** Opens dropped files with the first handler that accepts them; otherwise says what can be dropped. */
export async function openDropped(files: readonly FileWithPath[]): Promise<void> {
  const [first] = files;
  if (!first) return;
  const head = String.fromCharCode(...new Uint8Array(await first.file.slice(0, HEAD_BYTES).arrayBuffer()));
  const dropped = { name: first.path.replace(/\/.*/s, ''), files, head, content: await logHead(first.file) };
  const handler = HANDLERS.find(({ accepts }) => accepts(dropped));
  if (handler) await handler.open(dropped);
  else refuse(dropped.name);
}

function refuse(name: string): void {
  notice(
    `Nothing on this page reads “${visible(name, 48)}”. You can drop a model (GGUF, or a folder with safetensors), a saved run (zip), ` +
      'rollouts (JSON Lines or Parquet), a training log (JSON, console, CSV or TensorBoard), facts (CSV: subject, relation, object), or an environment (TypeScript or Python).',
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

async function takeFacts(file: File): Promise<void> {
  const { readFacts, useFacts } = await import('../training/factsStore.ts');
  await readFacts(file);
  if (currentRoute() !== 'lab') location.assign('#/lab');
  useSelection.setState({ tab: 'tune' }); // the panel is there on a phone
  fold('controls', false);
  useFacts.setState((s) => ({ droppedFiles: s.droppedFiles + 1 }));
}
