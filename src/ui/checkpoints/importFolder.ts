import { create } from 'zustand';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { type PackedRun, unpackedRun } from '../../runs/packed.ts';
import type { ForeignModel } from '../../wire/folderMessages.ts';
import { edit, useConfig } from '../knobs/configStore.ts';
import { useFacts } from '../knobs/factsStore.ts';
import { NO_LISTENER, RunClient } from '../run/runClient.ts';
import { nextEnvironment, startFrom } from '../run/engine.ts';

/** What was read, or why it cannot be taken. */
export type Imported =
  | { readonly kind: 'reading'; readonly name: string }
  | { readonly kind: 'refused'; readonly name: string; readonly reasons: readonly string[] }
  | {
      readonly kind: 'run';
      readonly name: string; // of the file
      readonly run: PackedRun;
      readonly parameters: number;
      readonly foreign: ForeignModel | null;
    };

interface ImportState {
  readonly imported: Imported | null;
}

/** A checkpoint that was given to the page and waits for a word. */
export const useImport = create<ImportState>()(() => ({ imported: null }));

/** Larger files are not read into memory. */
const MOST_BYTES = 2 ** 30;

let reader: RunClient | null = null;

/** Closes what was read, and ends the worker that reads: a file may keep it busy for as long as it likes. */
export function closeImport(): void {
  reader?.terminate('Reading was cancelled.');
  reader = null;
  useImport.setState({ imported: null });
}

/**
 * Reads a zip, or the files of a folder, and asks what to do with it; nothing changes before that. It's read in a worker of its own, which can
 * be ended without the run that trains.
 */
export async function importFiles(name: string, files: readonly File[]): Promise<void> {
  closeImport();
  const own = new RunClient(NO_LISTENER);
  reader = own;
  const show = (imported: Imported) => {
    if (reader === own) useImport.setState({ imported }); // nothing is shown of a file that was closed
  };
  show({ kind: 'reading', name });
  await read(name, files, own, show);
  own.terminate('The file has been read.');
}

async function read(
  name: string,
  files: readonly File[],
  client: RunClient,
  show: (imported: Imported) => void,
): Promise<void> {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MOST_BYTES) {
    const reason = `${name} has ${bytes} bytes; at most ${MOST_BYTES} can be opened. Choose a smaller model.`;
    show({ kind: 'refused', name, reasons: [reason] });
    return;
  }
  try {
    const { wanted: config } = useConfig.getState();
    const { facts } = useFacts.getState();
    const content = await contentOf(files);
    const environment = config.env === YOUR_ENVIRONMENT ? nextEnvironment() : null;
    const task = { kind: 'import', name, content, config, facts, environment } as const;
    const answer = await client.ask((id) => ({ type: 'folder', id, task }));
    if (answer.kind === 'imported') show({ ...answer, kind: 'run', name });
    else
      show({ kind: 'refused', name, reasons: (answer.kind === 'refused' ? answer.message : answer.kind).split('\n') });
  } catch (error) {
    show({ kind: 'refused', name, reasons: [error instanceof Error ? error.message : String(error)] });
  }
}

async function contentOf(files: readonly File[]): Promise<Uint8Array | ReadonlyMap<string, Uint8Array>> {
  const read = async (file: File) => new Uint8Array(await file.arrayBuffer());
  const [first] = files;
  if (first && files.length === 1 && first.name !== 'model.safetensors') return read(first);
  return new Map(await Promise.all(files.map(async (file) => [file.name, await read(file)] as const)));
}

/** Goes on with what was read, paused, in the lab; a run that is there can be brought back as after a reset. */
export function continueImported({ run, foreign }: Extract<Imported, { kind: 'run' }>): void {
  const here = { ...run, id: 0 };
  Reflect.deleteProperty(here, 'fork'); // numbers of runs are of the browser they were made in
  if (foreign) edit(run.checkpoint.config);
  startFrom(unpackedRun(here));
  closeImport();
  location.assign('#/lab');
}

/** Asks for a file to import. */
export function chooseFile(): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.accept = '.zip,.safetensors,.json,.jsonl,.jinja,.md,.svg';
  input.addEventListener('change', () => {
    const files = [...(input.files ?? [])];
    const [first] = files;
    if (first) void importFiles(first.name, files);
  });
  input.click();
}
