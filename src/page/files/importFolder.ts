import { create } from 'zustand';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { type PackedRun, unpackedRun } from '../../runs/packed.ts';
import type { ForeignModel } from '../../wire/folderMessages.ts';
import { editKnobs, useConfig } from '../knobs/configStore.ts';
import { useFacts } from '../training/factsStore.ts';
import { NO_LISTENER, RunClient } from '../training/runClient.ts';
import { nextEnvironment, startFrom } from '../training/engine.ts';

export type ImportStatus =
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
  readonly status: ImportStatus | null;
}

/** The checkpoint being imported, which waits for the reader's decision. */
export const useImport = create<ImportState>()(() => ({ status: null }));

/** Largest import. Larger files are not read into memory. */
const MAX_BYTES = 2 ** 30;

let reader: RunClient | null = null;

/** Closes the import, and ends the worker that reads it, because a file may keep the worker busy forever. */
export function closeImport(): void {
  reader?.terminate('Reading was cancelled.');
  reader = null;
  useImport.setState({ status: null });
}

/** Reads in a worker that can be ended without ending the run, and asks what to do; nothing changes before that. */
export async function importFiles(name: string, files: readonly File[]): Promise<void> {
  closeImport();
  const client = new RunClient(NO_LISTENER);
  reader = client;
  const show = (status: ImportStatus) => {
    if (reader === client) useImport.setState({ status }); // ignore an import that was closed
  };
  show({ kind: 'reading', name });
  await read(name, files, client, show);
  client.terminate('The file has been read.');
}

async function read(
  name: string,
  files: readonly File[],
  client: RunClient,
  show: (imported: ImportStatus) => void,
): Promise<void> {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MAX_BYTES) {
    const reason = `${name} has ${bytes} bytes; at most ${MAX_BYTES} can be opened. Choose a smaller model.`;
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

/** Continues the imported run in the lab, paused. The current run can be brought back as after a reset. */
export function continueImported({ run, foreign }: Extract<ImportStatus, { kind: 'run' }>): void {
  // a run's number is valid only in the browser where the run was made
  const importedRun = { ...run, id: 0, ...(run.fork && { fork: { ...run.fork, run: 0 } }) };
  if (foreign) editKnobs(run.checkpoint.config);
  startFrom(unpackedRun(importedRun));
  closeImport();
  location.assign('#/lab');
}

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
