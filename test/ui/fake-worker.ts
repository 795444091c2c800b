import type { RunConfig } from '../../src/config/config.ts';
import type { RunCommand, RunEvent } from '../../src/wire/commands.ts';
import { postSignsOfLife } from '../../src/wire/startWorker.ts';
import { RunHistory } from '../../src/session/history.ts';
import { fakePreferences, fakeReady, fakeRefusal, fakeUpdate, TEXT_SEED } from './fake-run.ts';

/**
 * A worker that answers as src/worker.ts does but trains nothing: tests of the page run against it where the engine is
 * not the point. `seed` 666 makes it throw after a few updates; 5000 and 10000 make that many in a hurry, the first
 * without batches and with one reward out of line; 64000 makes batches of long texts, one a second.
 */
const CRASH_SEED = 666;
const CRASH_UPDATE = 5;
const LONG_SEEDS = [5000, 10_000];
const AT_ONCE = 100;
const TICK_MS = 60;
const TEXT_TICKS = 16; // from one batch of long texts to the next
/** The update whose reward is out of line, and that reward. */
const SPIKE = { update: 2345, reward: 77 };

let config: RunConfig | null = null;
let update = 0;
let running = false;
let clicks = 0;
let history = new RunHistory();
let changes: Partial<RunConfig> = {};

const post = (event: RunEvent) => globalThis.postMessage(event);

function advance(): void {
  if (!config) return;
  update++;
  if (Object.keys(changes).length > 0) post({ type: 'configured', update, step: 0, changes });
  config = { ...config, ...changes };
  changes = {};
  if (config.seed === CRASH_SEED && update > CRASH_UPDATE) throw new Error('made-up crash');
  for (const event of fakeUpdate(update, 0, config)) {
    if (event.type === 'batch' && config.seed === LONG_SEEDS[0]) continue;
    if (event.type === 'metrics' && config.seed === LONG_SEEDS[0] && update === SPIKE.update) {
      post({ ...event, values: { ...event.values, 'critic/score/mean': SPIKE.reward } });
    } else if (event.type === 'batch') {
      history.keepBatch(event.batch, event.config);
      post({ ...event, kept: history.updates, bytes: history.bytes });
    } else post(event.type === 'preferences' ? fakePreferences(update, clicks) : event);
  }
}

let ticks = 0;
setInterval(() => {
  ticks++;
  if (!running || !config || (config.seed === TEXT_SEED && ticks % TEXT_TICKS > 0)) return;
  const { seed } = config;
  const last = LONG_SEEDS.includes(seed) ? seed : Infinity;
  for (let n = last < Infinity ? AT_ONCE : 1; n > 0 && update < last; n--) advance();
  if (update < last) return;
  running = false;
  post({ type: 'running', running, update, finished: true });
}, TICK_MS);

postSignsOfLife(() => post({ type: 'alive', holds: false }));

globalThis.addEventListener('message', ({ data }: MessageEvent<RunCommand>) => {
  if (data.type === 'live' || data.type === 'fence') return;
  if (data.type === 'hold') {
    history.setShown(data.update);
    return;
  }
  if (data.type === 'ask') {
    const { id, question } = data;
    const kept = question.kind === 'batch' ? (history.batch(question.update) ?? null) : null;
    const refused = { kind: 'refused', message: 'This run is made up: there is nothing to ask it.' } as const;
    post({ type: 'answer', id, answer: question.kind === 'batch' ? { kind: 'batch', kept } : refused });
    return;
  }
  if (data.type === 'start') {
    const refusal = fakeRefusal(data.config);
    if (refusal) {
      post(refusal);
      return;
    }
    config = data.config;
    update = 0;
    history = new RunHistory();
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
