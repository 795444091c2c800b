import { currentRoute } from '../address/route.ts';
import { useSelection } from './selectionStore.ts';

/** Files that were dropped together; `name` is that of the folder, or of the first. */
export interface Dropped {
  readonly name: string;
  readonly files: readonly File[];
  readonly head: Uint8Array; // the first bytes of the first file
}

interface Taker {
  readonly takes: (dropped: Dropped) => boolean;
  readonly take: (dropped: Dropped) => Promise<void>;
}

const HEAD_BYTES = 64;
const ZIP = [0x50, 0x4b]; // `PK`

/** Who takes what is dropped: the first that knows it by its contents, or else by its names. The last takes anything. */
const TAKERS: readonly Taker[] = [
  {
    takes: ({ head, files }) =>
      ZIP.every((byte, i) => head[i] === byte) || files.some(({ name }) => name.endsWith('.safetensors')),
    take: async ({ name, files }) => (await import('../checkpoints/importFolder.ts')).importFiles(name, files),
  },
  { takes: () => true, take: ({ files }) => takeFacts(files) },
];

/**
 * Takes files and folders dropped on any screen: a browser by itself would leave the page, and its run, to show them. Returns a
 * function that stops.
 */
export function bindDrop(): () => void {
  const over = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  };
  const drop = (event: DragEvent) => {
    const { dataTransfer } = event;
    if (!dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    // entries are gone when the event is over: they are asked for now
    const folder = Array.from(dataTransfer.items, (item) => item.webkitGetAsEntry()).find(
      (entry) => entry?.isDirectory,
    );
    const files = [...dataTransfer.files];
    void (folder ? filesIn(folder) : Promise.resolve(files)).then((all) =>
      take(folder?.name ?? all[0]?.name ?? '', all),
    );
  };
  addEventListener('dragover', over);
  addEventListener('drop', drop);
  return () => {
    removeEventListener('dragover', over);
    removeEventListener('drop', drop);
  };
}

/** The files that lie in a folder, not those of folders in it. */
async function filesIn(folder: FileSystemEntry): Promise<File[]> {
  const reader = (folder as FileSystemDirectoryEntry).createReader();
  const files: File[] = [];
  for (;;) {
    // a hundred at a time
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return files;
    for (const entry of some.filter(({ isFile }) => isFile)) {
      files.push(await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)));
    }
  }
}

async function take(name: string, files: readonly File[]): Promise<void> {
  const [first] = files;
  if (!first) return;
  const head = new Uint8Array(await first.slice(0, HEAD_BYTES).arrayBuffer());
  const dropped = { name, files, head };
  await TAKERS.find(({ takes }) => takes(dropped))?.take(dropped);
}

/** A person's own facts; shows what was read, in the lab. */
async function takeFacts([file]: readonly File[]): Promise<void> {
  if (!file) return;
  const { readFacts, useFacts } = await import('../knobs/factsStore.ts');
  await readFacts(file);
  if (currentRoute() !== 'lab') location.assign('#/lab');
  useSelection.setState({ tab: 'tune' }); // where a phone has the panel
  useFacts.setState((s) => ({ dropped: s.dropped + 1 }));
}
