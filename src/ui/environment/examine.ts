import { ExaminerClient } from './examinerClient.ts';
import { useEnvironment } from './environmentStore.ts';

/** Tasks that a check plays. */
export const TASKS_PLAYED = 1000;
const SEED = 1;

let reader: ExaminerClient | null = null;
let asked: string | null = null; // the text that is being read
let checker: ExaminerClient | null = null;

/** Reads what stands in the editor whenever it changes; nothing of it runs. Returns a function that stops. */
export function keepReading(): () => void {
  read();
  const stop = useEnvironment.subscribe(({ file }, before) => {
    if (file.text !== before.file.text) read();
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
  if (asked !== null || reading?.text === file.text) return;
  reader ??= new ExaminerClient(
    {
      onEvent: (event) => {
        if (event.type !== 'read' || asked === null) return;
        useEnvironment.setState({ reading: { text: asked, found: event.reading } });
        asked = null;
        read();
      },
      onLoss: () => ([reader, asked] = [null, null]), // the next key starts another
    },
    false,
  );
  asked = file.text;
  reader.send({ type: 'read', text: asked });
}

/** Plays what stands in the editor, in a worker of its own. */
export function check(): void {
  cancelCheck();
  const { text } = useEnvironment.getState().file;
  useEnvironment.setState({ check: { state: 'running', text, share: 0 } });
  checker = new ExaminerClient(
    {
      onEvent: (event) => {
        if (event.type === 'progress') {
          useEnvironment.setState({ check: { state: 'running', text, share: event.share } });
        } else if (event.type === 'checked') {
          checker?.terminate();
          checker = null;
          useEnvironment.setState({ check: { state: 'done', text, found: event.examination } });
        }
      },
      onLoss: (why) => {
        checker = null;
        useEnvironment.setState({ check: { state: 'ended', text, why } });
      },
    },
    true,
  );
  checker.send({ type: 'check', text, episodes: TASKS_PLAYED, seed: SEED });
}

/** Ends a check that runs. */
export function cancelCheck(): void {
  checker?.terminate();
  checker = null;
  if (useEnvironment.getState().check?.state === 'running') useEnvironment.setState({ check: null });
}
