import { type EnvironmentFile, languageOf } from '../../domain/environmentFile.ts';
import type { Examination } from '../../written/examination.ts';
import { download } from '../export/fileDownload.ts';
import { rename, useEnvironment } from './environmentStore.ts';
import { nameAfterClass } from './templates.ts';
import type { ExaminerCommand, ExaminerEvent } from '../../written/examinerMessages.ts';
import { noteFailure } from '../shell/newVersion.ts';

/** Tasks that a check plays. */
export const TASKS_PLAYED = 1000;
const SEED = 1;

let reader: ExaminerClient | null = null;
let asked: EnvironmentFile | null = null; // that is being read
let checker: ExaminerClient | null = null;

/** Reads what stands in the editor whenever it changes; nothing of it runs. Returns a function that stops. */
export function keepReading(): () => void {
  read();
  const stop = useEnvironment.subscribe(({ file }, before) => {
    if (file.text !== before.file.text || languageOf(file) !== languageOf(before.file)) read();
  });
  return () => {
    stop();
    reader?.terminate();
    [reader, asked] = [null, null];
  };
}

/** Asks for the newest text; one is read at a time, and those between are skipped. */
function read(): void {
  const { file, reading } = useEnvironment.getState();
  if (asked !== null || (reading?.text === file.text && reading.language === languageOf(file))) return;
  reader ??= new ExaminerClient(
    {
      onEvent: (event) => {
        if (event.type !== 'read' || asked === null) return;
        useEnvironment.setState({
          reading: { text: asked.text, language: languageOf(asked), found: event.reading },
        });
        if (event.reading.problem === null) followClass(asked, event.reading.declared.name);
        asked = null;
        read();
      },
      onLoss: () => ([reader, asked] = [null, null]), // the next key starts another
    },
    false,
  );
  asked = { name: file.name, text: file.text };
  reader.send({ type: 'read', file: asked });
}

/** Names the file after its class, if it has the name of a template that it no longer is. */
function followClass({ name, text }: EnvironmentFile, className: string): void {
  const { file } = useEnvironment.getState();
  const own = nameAfterClass(name, className);
  if (own !== null && file.name === name && file.text === text) rename(own);
}

/** Plays what stands in the editor, in a worker of its own. */
export const check = (): void => play(false);

/** Checks what stands in the editor, unless the last check was of the same text. If it has no fault, hands the reader the zip with which other frameworks train on it. */
export const checkAndExport = (): void => play(true);

/** What the last check found in the text that stands in the editor; null if that text wasn't checked. */
export const foundInText = ({ check, file }: ReturnType<typeof useEnvironment.getState>): Examination | null =>
  check?.state === 'done' && check.text === file.text ? check.found : null;

function play(exports: boolean): void {
  cancelCheck();
  const { name, text } = useEnvironment.getState().file;
  const found = exports ? foundInText(useEnvironment.getState()) : null;
  if (!found) useEnvironment.setState({ check: { state: 'running', text, share: 0 } });
  checker = new ExaminerClient(
    {
      onEvent: (event) => {
        if (event.type === 'progress') {
          useEnvironment.setState({ check: { state: 'running', text, share: event.share } });
        } else if (event.type === 'checked') {
          checker?.terminate();
          checker = null;
          const exported = exports ? { as: event.zip && saved(name, event.zip) } : null;
          useEnvironment.setState({ check: { state: 'done', text, found: event.examination, exported } });
        }
      },
      onLoss: (why) => {
        checker = null;
        useEnvironment.setState({ check: { state: 'ended', text, why } });
      },
    },
    true,
  );
  const file = { name, text };
  checker.send(
    found
      ? { type: 'export', file, examination: found }
      : { type: 'check', file, episodes: TASKS_PLAYED, seed: SEED, exports },
  );
}

/** Hands the reader the zip of a file's export; returns its name. */
function saved(file: string, zip: Uint8Array<ArrayBuffer>): string {
  const name = `${(file.trim() || 'environment').replace(/(.)\.[^.]*$/, '$1')}.zip`;
  download(name, 'application/zip', new Blob([zip], { type: 'application/zip' }));
  return name;
}

/** Ends a check that runs. */
export function cancelCheck(): void {
  checker?.terminate();
  checker = null;
  if (useEnvironment.getState().check?.state === 'running') useEnvironment.setState({ check: null });
}

/** How long a worker that is there may say nothing. What an environment may compute is counted; this stands behind it. */
const SILENT_MS = 10_000;

/** Callbacks for what the examiner reports. */
interface ExaminerListener {
  readonly onEvent: (event: Exclude<ExaminerEvent, { type: 'here' | 'failed' }>) => void;
  /** It has ended; why, in a sentence. */
  readonly onLoss: (why: string) => void;
}

/** The owner of a worker that examines an environment's file. */
class ExaminerClient {
  readonly #worker: Worker;
  readonly #onLoss: ExaminerListener['onLoss'];
  #watch: ReturnType<typeof setTimeout> | undefined;

  /** Starts the worker. `watched`: it is ended when it has said nothing for ten seconds. */
  constructor({ onEvent, onLoss }: ExaminerListener, watched: boolean) {
    this.#onLoss = onLoss;
    this.#worker = new Worker(new URL('../../examiner.ts', import.meta.url), { type: 'module', name: 'examining' });
    this.#worker.onmessage = ({ data }: MessageEvent<ExaminerEvent>) => {
      if (watched) this.#heard();
      if (data.type === 'failed') this.#lose(`The sandbox stopped: ${data.message}`);
      else if (data.type !== 'here') onEvent(data);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      void noteFailure(event.message);
      this.#lose(
        event.message
          ? `The sandbox stopped: ${event.message}`
          : 'The code of the check couldn’t be loaded. Reload the page.',
      );
    };
  }

  /** Sends a command. */
  send(command: ExaminerCommand): void {
    this.#worker.postMessage(command);
  }

  /** Ends the worker, whatever it does. */
  terminate(): void {
    clearTimeout(this.#watch);
    this.#worker.terminate();
  }

  #heard(): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(
      () => this.#lose(`The sandbox didn’t answer for ${SILENT_MS / 1000} seconds, so the page ended it.`),
      SILENT_MS,
    );
  }

  #lose(why: string): void {
    this.terminate();
    this.#onLoss(why);
  }
}
