import type { RunConfig } from '../../src/config.ts';
import type { RunCommand } from '../../src/commands.ts';
import type { RunEvent } from '../../src/protocol.ts';
import { fakePreferences, fakeReady, fakeRefusal, fakeUpdate } from './fake-run.ts';

/**
 * A worker that answers as src/worker.ts does but trains nothing: tests of the page run against it where the engine is not
 * the point. `seed` 666 makes it throw after a few updates.
 */
const CRASH_SEED = 666;
const CRASH_UPDATE = 5;

let config: RunConfig | null = null;
let update = 0;
let running = false;
let clicks = 0;
let changes: Partial<RunConfig> = {};

const post = (event: RunEvent) => globalThis.postMessage(event);

function advance(): void {
  if (!config) return;
  update++;
  if (Object.keys(changes).length > 0) post({ type: 'configured', update, changes });
  config = { ...config, ...changes };
  changes = {};
  if (config.seed === CRASH_SEED && update > CRASH_UPDATE) throw new Error('made-up crash');
  for (const event of fakeUpdate(update, 0, config))
    post(event.type === 'preferences' ? fakePreferences(update, clicks) : event);
}

setInterval(() => {
  if (running) advance();
}, 60);

globalThis.addEventListener('message', ({ data }: MessageEvent<RunCommand>) => {
  if (data.type === 'start') {
    const refusal = fakeRefusal(data.config);
    if (refusal) {
      post(refusal);
      return;
    }
    config = data.config;
    update = 0;
    running = data.run;
    post(fakeReady(data.config));
  } else if (data.type === 'configure') changes = { ...changes, ...data.changes };
  else if (data.type === 'run') running = true;
  else if (data.type === 'pause') running = false;
  else if (data.type === 'prefer') {
    clicks++;
    post(fakePreferences(update, clicks));
    return;
  } else {
    running = false;
    advance();
  }
  post({ type: 'running', running, update, finished: false });
});
