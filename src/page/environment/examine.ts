import { type EnvironmentFile, languageOf } from '../../domain/environmentFile.ts';
import type { Examination, ExaminerCommand, ExaminerEvent } from '../../written/examination.ts';
import { download } from '../browser/fileDownload.ts';
import { renameFile, useEnvironment } from './environmentStore.ts';
import { nameAfterClass } from './templates.ts';
import { WorkerClient, type WorkerListener } from '../browser/workerClient.ts';

export const CHECK_TASKS = 1000;
const CHECK_SEED = 1;

let reader: ExaminerClient | null = null;
let fileBeingRead: EnvironmentFile | null = null; // the file that is being read
let checker: ExaminerClient | null = null;

/** Reads the editor's text whenever it changes, without running it. Returns a function that stops this. */
export function readOnChange(): () => void {
  readNewestText();
  const stop = useEnvironment.subscribe(({ file }, before) => {
    if (file.text !== before.file.text || languageOf(file) !== languageOf(before.file)) readNewestText();
  });
  return () => {
    stop();
    reader?.terminate();
    [reader, fileBeingRead] = [null, null];
  };
}

/** Reads the newest text, unless a text is being read. Texts in between are skipped. */
function readNewestText(): void {
  const { file, reading } = useEnvironment.getState();
  if (fileBeingRead !== null || (reading?.text === file.text && reading.language === languageOf(file))) return;
  reader ??= examiner(
    {
      onEvent: (event) => {
        if (event.type !== 'read' || fileBeingRead === null) return;
        useEnvironment.setState({
          reading: { text: fileBeingRead.text, language: languageOf(fileBeingRead), result: event.reading },
        });
        if (event.reading.problem === null) renameAfterClass(fileBeingRead, event.reading.declared.name);
        fileBeingRead = null;
        readNewestText();
      },
      onLoss: () => ([reader, fileBeingRead] = [null, null]), // the next change of the text starts another worker
    },
    false,
  );
  fileBeingRead = { name: file.name, text: file.text };
  reader.send({ type: 'read', file: fileBeingRead });
}

let lastClassRead: string | null = null; // of a text without a problem

/** Renames the file after its class, if a template or its class gave it its name and its class was renamed. */
function renameAfterClass({ name, text }: EnvironmentFile, className: string): void {
  const { file } = useEnvironment.getState();
  const newName = nameAfterClass(name, className, lastClassRead);
  lastClassRead = className;
  if (newName !== null && file.name === name && file.text === text) renameFile(newName);
}

/** Checks the editor's text, in a separate worker. */
export const check = (): void => runCheck(false);

/** Checks the text unless the last check was of it. If it has no fault, downloads the zip that other frameworks train with. */
export const checkAndExport = (): void => runCheck(true);

/** What the last check found in the editor's text; null if this text wasn't checked. */
export const currentExamination = ({ check, file }: ReturnType<typeof useEnvironment.getState>): Examination | null =>
  check?.state === 'done' && check.text === file.text ? check.examination : null;

function runCheck(exportAfterCheck: boolean): void {
  cancelCheck();
  const { name, text } = useEnvironment.getState().file;
  const examination = exportAfterCheck ? currentExamination(useEnvironment.getState()) : null;
  if (!examination) useEnvironment.setState({ check: { state: 'running', text, progress: 0 } });
  checker = examiner(
    {
      onEvent: (event) => {
        if (event.type === 'progress') {
          useEnvironment.setState({ check: { state: 'running', text, progress: event.share } });
        } else if (event.type === 'checked') {
          checker?.terminate();
          checker = null;
          const exported = exportAfterCheck ? { zipName: event.zip && downloadZip(name, event.zip) } : null;
          useEnvironment.setState({ check: { state: 'done', text, examination: event.examination, exported } });
        }
      },
      onLoss: (reason) => {
        checker = null;
        useEnvironment.setState({ check: { state: 'ended', text, reason } });
      },
    },
    true,
  );
  const file = { name, text };
  checker.send(
    examination
      ? { type: 'export', file, examination }
      : { type: 'check', file, episodes: CHECK_TASKS, seed: CHECK_SEED, exports: exportAfterCheck },
  );
}

/** Downloads the zip of a file's export. Returns the zip's name. */
function downloadZip(file: string, zip: Uint8Array<ArrayBuffer>): string {
  const name = `${(file.trim() || 'environment').replace(/(.)\.[^.]*$/, '$1')}.zip`;
  download(name, 'application/zip', new Blob([zip], { type: 'application/zip' }));
  return name;
}

export function cancelCheck(): void {
  checker?.terminate();
  checker = null;
  if (useEnvironment.getState().check?.state === 'running') useEnvironment.setState({ check: null });
}

/** How long a started worker may send nothing. A fallback: an environment's computation has its own limit. */
const TIMEOUT_MS = 10_000;

type ExaminerClient = WorkerClient<ExaminerCommand, ExaminerEvent>;

/** Starts a worker that examines an environment's file. `hasTimeout`: ends it once it has sent nothing for ten seconds after a message. */
function examiner(
  { onEvent, onLoss }: WorkerListener<Exclude<ExaminerEvent, { type: 'here' | 'failed' }>>,
  hasTimeout: boolean,
): ExaminerClient {
  let timeout: ReturnType<typeof setTimeout> | undefined;
  const client: ExaminerClient = new WorkerClient(
    'The sandbox',
    () => new Worker(new URL('../../examiner.ts', import.meta.url), { type: 'module', name: 'examining' }),
    {
      onEvent: (event) => {
        clearTimeout(timeout);
        if (hasTimeout) timeout = setTimeout(() => client.fail(SILENT), TIMEOUT_MS);
        if (event.type === 'failed') client.fail(`The sandbox stopped: ${event.message}`);
        else if (event.type !== 'here') onEvent(event);
      },
      onLoss,
    },
  );
  return client;
}

const SILENT = `The sandbox didn’t answer for ${TIMEOUT_MS / 1000} seconds, so the page ended it. Your class may compute for long as it’s loaded, or in one call: let it compute less there.`;
