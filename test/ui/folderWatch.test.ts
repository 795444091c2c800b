import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type FolderChange, FolderWatch, type ListedFile } from '../../src/page/files/folderWatch.ts';
import { Library } from '../../src/rollouts/library.ts';
import { RolloutTable } from '../../src/rollouts/columns.ts';
import { DEFAULT_PATTERN } from '../../src/rollouts/splitPattern.ts';

const NOW = 1_000_000;
const packed = (text: string) => new Uint8Array(gzipSync(text));
const line = (name: string) => `${JSON.stringify({ input: name, output: 'a', score: 1, step: 1 })}\n`;

/** A folder in memory, the watch of it, and the reader that gets the changes. */
function watched() {
  const disk = new Map<string, { readonly text: string | Uint8Array<ArrayBuffer>; readonly stamp: string; readonly changed: number }>(); // prettier-ignore
  const fetched: string[] = [];
  const watch = new FolderWatch((path, from) => {
    const file = disk.get(path);
    if (!file) return Promise.reject(new Error('vanished'));
    fetched.push(`${path} from ${from}`);
    return Promise.resolve(new Blob([file.text.slice(from)]));
  });
  const [library, table] = [new Library(), new RolloutTable()];
  const problems: string[] = [];
  const write = (path: string, text: string | Uint8Array<ArrayBuffer>, stamp = '1', changed = NOW - 1000) =>
    disk.set(path, { text, stamp, changed });
  const look = async (missing = false) => {
    const files = Array.from(disk, ([path, { text, ...rest }]): ListedFile => ({ path, size: text.length, ...rest }));
    const changes: FolderChange[] = [];
    for await (const change of watch.changes({ folder: 'run', now: NOW, missing, leftOut: false, files })) {
      changes.push(change);
      for await (const opened of library.open(change.files, DEFAULT_PATTERN, change.gone)) {
        table.withdraw(new Set(opened.withdrawn.map(({ index }) => index)));
        table.append(opened.block);
        problems.push(...opened.problems.map(({ got }) => got));
      }
    }
    return changes;
  };
  /** The prompts that are listed, in the order of their rows. */
  const listed = async () => {
    const rows = Array.from({ length: table.rows }, (_, row) => row).filter((row) => table.columns.file[row]! >= 0);
    const records = await Promise.all(rows.map((row) => library.read(row, DEFAULT_PATTERN)));
    return records.map(({ segments }) => segments[0]?.text).join(' ');
  };
  return { disk, fetched, library, table, problems, write, look, listed };
}

test('of a file that grew only the end is fetched and read; a cut last line waits for its end and is no problem', async () => {
  const { fetched, problems, write, look, listed } = watched();
  const first = line('p').repeat(10);
  write('1.jsonl', first + line('q').slice(0, 9));
  await look();
  expect(await listed()).toBe('p '.repeat(10).trim());
  write('1.jsonl', first + line('q') + line('r'), '1', NOW - 500);
  await look();
  expect(await listed()).toBe(`${'p '.repeat(10)}q r`);
  expect(fetched).toEqual(['1.jsonl from 0', `1.jsonl from ${first.length + 9 - 256}`]);
  expect([await look(), problems]).toEqual([[], []]); // nothing has changed since
});

test('a file that was written anew takes the place of its rollouts, even if it is longer now, and those in view can still be read', async () => {
  const { library, write, look, listed } = watched();
  write('1.jsonl', line('p') + line('q'));
  await look();
  write('1.jsonl', line('x') + line('y') + line('z'), '1', NOW - 500);
  await look();
  expect(await listed()).toBe('x y z');
  write('1.jsonl', line('k'), '1', NOW - 400);
  await look();
  expect(await listed()).toBe('k');
  expect((await library.read(1, DEFAULT_PATTERN)).segments[0]?.text).toBe('q');
});

test('rollouts of a removed file stay until the job starts over; a missing folder takes nothing away', async () => {
  const { disk, write, look, listed } = watched();
  write('1.jsonl', line('p'));
  write('2.jsonl', line('q'));
  await look();
  disk.clear();
  await look(true);
  write('3.jsonl', line('r'));
  await look();
  expect(await listed()).toBe('p q r');
  write('1.jsonl', line('new'), '2', NOW - 500);
  await look();
  expect(await listed()).toBe('r new');
});

test('a rotated file goes on under its new name, and a chunk that was compressed is not read twice', async () => {
  const { disk, table, write, look, listed } = watched();
  write('log.jsonl', line('p'), '1');
  await look();
  write('log.jsonl.1', line('p') + line('q'), '1', NOW - 500);
  write('log.jsonl', line('r'), '2', NOW - 500);
  await look();
  expect((await listed()).split(' ').sort()).toEqual(['p', 'q', 'r']);
  disk.delete('log.jsonl.1');
  write('log.jsonl.1.zst', line('p') + line('q') + line('s'), '3', NOW - 400); // the reader goes by the bytes, not by the name
  await look();
  expect((await listed()).split(' ').sort()).toEqual(['p', 'q', 'r', 's']);
  expect(table.withdrawnRows).toBe(0); // whoever looks at one of them stays there
});

test('a log that was rotated and packed by gzip is not read twice; one that is first seen packed is read, and a log of metrics known by its content', async () => {
  const { disk, table, write, look, listed } = watched();
  write('log.jsonl', line('p') + line('q'), '1');
  await look();
  disk.delete('log.jsonl');
  write('log.jsonl.gz', line('p') + line('q'), '2', NOW - 500);
  write('old.jsonl-20261129.gz', packed(line('o') + line('n')), '3', NOW - 500);
  write('metrics.jsonl.gz', packed('{"step":1,"data":{"reward":1}}\n'), '4', NOW - 500);
  const [change] = await look();
  expect(await listed()).toBe('p q o n');
  expect(table.withdrawnRows).toBe(0);
  expect(change?.logs.map(({ path }) => path)).toEqual(['metrics.jsonl.gz']);
});

test('a log of metrics that grows comes with the parts that were rotated, and no other', async () => {
  const { write, look } = watched();
  const entry = (step: number) => `{"step": ${step}, "data": {"reward": 1}}\n`;
  write('metrics.jsonl', entry(1), '1');
  write('metrics.jsonl.copy.jsonl', entry(1), '9');
  await look();
  write('metrics.jsonl.1', entry(1) + entry(2), '1', NOW - 500);
  write('metrics.jsonl', entry(3), '2', NOW - 500);
  const texts = async ([change]: FolderChange[]) =>
    Promise.all((change?.logs ?? []).map(async ({ path, file }) => [path, await file.text()]));
  const parts = (last: string) => [['metrics.jsonl', last], ['metrics.jsonl.1', entry(1) + entry(2)]]; // prettier-ignore
  expect((await texts(await look())).sort()).toEqual(parts(entry(3)));
  write('metrics.jsonl', entry(3) + entry(4), '2', NOW - 400);
  expect((await texts(await look())).sort()).toEqual(parts(entry(3) + entry(4)));
});

test('logs of metrics are told from rollouts and from the job’s other files; one that is written anew is no job that starts over', async () => {
  const { disk, problems, write, look, listed } = watched();
  const state = (step: number) => `{"best_metric": null, "log_history": [{"step": ${step}, "reward": 1}]}`;
  write('1.jsonl', line('p'));
  write('checkpoint-5/trainer_state.json', state(5));
  write('step.csv', 'step,reward\n1,0.5\n');
  write('facts.csv', 'Ada,wrote,Pnin\n');
  write('runs/events.out.tfevents.1.host', 'x');
  write('job.log', 'step:1 - critic/score/mean:0.5\n');
  write('config.json', '{}');
  write('sizes.json', '{"a": 1}\n');
  const logs = (await look()).flatMap((change) => change.logs.map(({ path }) => path));
  expect(logs.sort()).toEqual(['checkpoint-5/trainer_state.json', 'job.log', 'runs/events.out.tfevents.1.host', 'step.csv']);
  disk.delete('1.jsonl');
  write('checkpoint-5/trainer_state.json', state(6), '1', NOW - 500);
  expect((await look()).flatMap(({ gone }) => gone)).toEqual([]);
  expect([await listed(), problems]).toEqual(['p', []]);
}); // prettier-ignore

test('a file that is read as a whole waits until it is quiet, and training logs are kept apart', async () => {
  const { fetched, write, look } = watched();
  write('completions_00001.parquet', 'PAR1', '1', NOW - 100);
  write('train.jsonl', '{"kind":"start"}\n', '2');
  const [change] = await look();
  expect(change).toMatchObject({ files: [], logs: [{ path: 'train.jsonl' }] });
  write('completions_00001.parquet', 'PAR1', '1', NOW - 301);
  await look();
  expect(fetched).toEqual(['train.jsonl from 0', 'completions_00001.parquet from 0']);
});
