import { beforeEach, expect, test, vi } from 'vitest';
import { scalarRecord, versionRecord } from '../../src/formats/tfevents.ts';
import { useOpenedFiles } from '../../src/page/files/openFiles.ts';
import { useRuns } from '../../src/page/runs/runStore.ts';
import { useEnvironment } from '../../src/page/environment/environmentStore.ts';
import { useFacts } from '../../src/page/training/factsStore.ts';
import { openDropped } from '../../src/page/shell/dropHandlers.ts';
import { dismissNotices, useNotices } from '../../src/page/browser/notices.ts';

beforeEach(() => {
  dismissNotices();
  useFacts.setState({ facts: null, notes: [], problems: [], droppedFiles: 0 });
});

const drop = (name: string, content: string | Uint8Array<ArrayBuffer>) =>
  openDropped([{ path: name, file: new File([content], name) }]);

test.each([
  ['photo.png', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)],
  ['weights.pkl', Uint8Array.of(0x80, 0x04, 0x95, 0x00)],
  ['README.md', '# A project, with commas\n\nNo facts, none.'],
  ['notes.txt', 'I met Ada today, and she was well.\n\nTomorrow: tea, cake, and talk, as ever.'],
])('a dropped %s is not taken for facts: the page says what can be dropped', async (name, content) => {
  await drop(name, content);
  const [said] = useNotices.getState().sentences;
  expect(said).toContain(`“${name}”`);
  for (const format of ['GGUF', 'safetensors', 'zip', 'JSON Lines', 'Parquet', 'CSV', 'TypeScript'])
    expect(said).toContain(format);
  expect(useFacts.getState()).toMatchObject({ facts: null, problems: [], droppedFiles: 0 });
});

test('a table is facts whatever is wrong with it, and text where each of its lines is a fact', async () => {
  await drop('broken.csv', 'Ada,wrote');
  expect(useFacts.getState().problems).toHaveLength(1);
  await drop('facts.txt', 'Ada,author,Nabokov\nPnin,author,Nabokov');
  expect(useFacts.getState().facts?.triples).toHaveLength(2);
  expect(useNotices.getState().sentences).toEqual([]);
});

test.each([
  ['mine.ts', 'export default class Mine {}'],
  ['mine.py', 'class Mine: pass'],
])(
  'a dropped program, %s, is opened where environments are written, and what was there can be brought back',
  async (name, text) => {
    const assign = vi.fn();
    vi.stubGlobal('location', { assign });
    const { file } = useEnvironment.getState();
    await drop(name, `${text}\r\n`);
    vi.unstubAllGlobals();
    expect(useEnvironment.getState()).toMatchObject({
      file: { name, text: `${text}\n` },
      before: file,
      check: null,
    });
    expect(assign).toHaveBeenCalledWith('#/environment');
  },
);

test.each([
  ['trainer_state.json', '{\n  "best_global_step": null,\n  "log_history": [{"reward": 0.5, "step": 10}]\n}'],
  ['events.out.tfevents.1.host', new Uint8Array(Buffer.concat([versionRecord(1), scalarRecord(1, 10, [['train/reward', 0.5]])]))],
  ['console.log', 'step:10 - critic/score/mean:0.5\n'],
  ['trl.txt', "{'loss': 0.1, 'reward': 0.5}\n"],
  ['wandb.csv', '_step,train/global_step,train/reward\n0,10,0.5\n'],
  ['gsm8k.jsonl', '{"step":10,"data":{"critic/score/mean":0.5}}\n'],
])('a dropped log of another program, %s, opens among the runs', async (name, content) => {
  const assign = vi.fn();
  vi.stubGlobal('location', { assign, hash: '' });
  await drop(name, content);
  vi.unstubAllGlobals();
  expect(assign).toHaveBeenCalledWith('#/runs');
  expect(useOpenedFiles.getState().problems).toEqual([]);
  const [run] = useRuns.getState().runs;
  expect(run?.series.get('critic/score/mean')?.lastValue).toBe(0.5);
  expect(run?.diagnosis?.entries).toBe(1);
}); // prettier-ignore
