import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { DEFAULTS, type RunConfig } from '../../src/config/fields.ts';
import { YOUR_ENVIRONMENT_PRESET } from '../../src/config/presets.ts';
import { FILE_NAMES } from '../../src/checkpoints/checkpointFolder.ts';
import { readCheckpointFiles } from '../../src/checkpoints/read.ts';
import { checkpointFiles } from '../../src/checkpoints/write.ts';
import type { EnvironmentFile } from '../../src/domain/environmentFile.ts';
import type { Metrics } from '../../src/domain/metrics.ts';
import type { Tries } from '../../src/domain/trainingEvent.ts';
import { type Checkpoint, checkpointOf, readCheckpoint } from '../../src/runs/checkpoint.ts';
import { warmStartRecipe } from '../../src/config/imitationRecipe.ts';
import { evaluate } from '../../src/rl/evaluate.ts';
import { warmStart } from '../../src/rl/warmStart.ts';
import { packedRun } from '../../src/runs/packed.ts';
import { runWithDefaults } from '../../src/runs/run.ts';
import type { Host } from '../../src/session/host.ts';
import { openSession, type Session } from '../../src/session/session.ts';
import type { RunEvent } from '../../src/wire/commands.ts';
import { readDeclaration } from '../../src/written/script/declaration.ts';
import { writtenEnvironment } from '../../src/written/writtenEnvironment.ts';
import { BYTES, servesBytes } from '../text/bytesTokenizer.ts';
import { sandboxOf } from './machine.ts';
import { NUMBERS } from './numbers.ts';

const hostFor = (source: string): Host => ({
  gpu: undefined,
  shippedFile: servesBytes,
  ownEnvironment: async (chatTokenizer) =>
    writtenEnvironment(readDeclaration(source), await sandboxOf(source), chatTokenizer),
  now: () => 0,
  yieldToEvents: () => Promise.resolve(),
});

const config = (seed: number) =>
  parseConfig({
    ...{ ...YOUR_ENVIRONMENT_PRESET.set, language: 'text', critic: 'none', imitationSteps: 2, backend: 'cpu', seed },
    ...{ layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 16, prompts: 2, groupSize: 2, evalTasks: 4, updates: 3 },
  });

const open = (source: string, seed = 1, from: Checkpoint | null = null): Promise<Session> =>
  openSession(config(seed), hostFor(source), () => undefined, { resumedFrom: from });

/** Trains up to and with an update; its numbers. */
async function trainTo(session: Session, update: number): Promise<Metrics> {
  for (;;) {
    // a loop over the events would end them with its return
    const event = (await session.events.next()).value as RunEvent;
    if (event.type === 'error') throw new Error(event.message);
    if (event.type === 'metrics' && event.update === update) return event.values;
  }
}

test('a run imitates the environment’s expert, trains, and is evaluated on the test tasks; the same seed comes to the same weights', async () => {
  const hashes: string[] = [];
  for (const seed of [1, 1, 2]) {
    const session = await open(NUMBERS, seed);
    const before = await trainTo(session, 0);
    expect(before).toMatchObject({ 'baseline/expert': 1, 'eval/tasks': 4 });
    await trainTo(session, 1);
    hashes.push(await session.parametersHash());
    session.dispose();
  }
  expect(hashes[1]).toBe(hashes[0]);
  expect(hashes[2]).not.toBe(hashes[0]);
});

test('imitation is the first stage of a run in words: shown as what it imitates, and saved in the middle it goes on to the same weights', async () => {
  const words = {
    ...config(1),
    language: 'words',
    prompts: 8,
    imitationSteps: 3,
    klCoef: 0.1,
    learningRate: 0.01,
  } as const;
  const begin = (from: Checkpoint | null = null) =>
    openSession(words, hostFor(NUMBERS), () => undefined, { resumedFrom: from });
  const imitateTo = async (session: Session, step: number) => {
    for (;;) {
      const event = (await session.events.next()).value as RunEvent;
      if (event.type === 'imitated' && event.done === step) return;
    }
  };
  const whole = await begin();
  const answer = await whole.answer({ kind: 'demonstrations' });
  if (answer.kind !== 'demonstrations') throw new Error(`got ${answer.kind}`);
  const episode = answer.shown!.episodes.find(({ length }) => length > 2);
  expect(episode!.map(({ kind }) => kind).slice(0, 3)).toEqual(['prompt', 'call', 'observation']);
  expect(episode![1]!.text).toMatch(/^<call> (guess \d|ask (yes|no|true|false)) <\/call>$/);
  await imitateTo(whole, 2);
  const checkpoint = readCheckpoint(structuredClone(await whole.checkpoint()));
  expect(checkpoint.progress).toMatchObject({ imitated: 2, update: 0 });
  const again = await begin(checkpoint);
  for (const session of [whole, again]) await imitateTo(session, 3);
  expect((await again.checkpoint()).start).toEqual((await whole.checkpoint()).networks.policy.weights);
  // with klCoef above 0 the reference counts: it is the weights after imitation
  for (const session of [whole, again]) await trainTo(session, 2);
  expect(await again.parametersHash()).toBe(await whole.parametersHash());
  // a save of an earlier version has no weights after imitation: they are computed again
  const { start, version: _, sum: __, ...rest } = await whole.checkpoint();
  expect(start).toBeDefined();
  const old = await begin(checkpointOf(rest));
  for (const session of [whole, old]) await trainTo(session, 3);
  expect(await old.parametersHash()).toBe(await whole.parametersHash());
  for (const session of [whole, again, old]) session.dispose();
});

test('during imitation the agent tries training tasks by itself after steps 10 and 20, and learns the same as without', async () => {
  const words = { ...config(1), language: 'words', prompts: 8, imitationSteps: 21, evalTasks: 20, width: 32 } as const;
  const open = () => openSession(words, hostFor(NUMBERS), () => undefined);
  const [session, other] = [await open(), await open()];
  const tried: (readonly [step: number, tries: Tries])[] = [];
  while (session.isImitating()) {
    const event = (await session.events.next()).value as RunEvent;
    if (event.type !== 'imitated' || !event.tries) continue;
    tried.push([event.done, event.tries]);
    const { solved, played } = event.tries;
    // an environment that holds nothing out is evaluated on its training tasks, greedy too
    const training = { ...session.env, splits: { ...session.env.splits, heldOut: null } };
    const { values } = await evaluate(session.policy, training, words, 0, { yieldToEvents: () => Promise.resolve() });
    expect(values['eval/success']).toBe(solved / played);
  }
  expect(tried.map(([step, { played }]) => [step, played])).toEqual([10, 20].map((step) => [step, words.evalTasks]));
  expect(tried[1]?.[1].solved).toBeGreaterThan(0); // one answer that is always given solves some
  const { policy, env } = other;
  const recipe = () => warmStartRecipe(words);
  const start = { policy, env, seed: words.seed, recipe, yieldToEvents: () => Promise.resolve() };
  for await (const step of warmStart(start)) expect(step).toBeLessThanOrEqual(21);
  expect(await session.parametersHash()).toBe(await other.parametersHash());
  for (const each of [session, other]) each.dispose();
});

test('imitation that is ended early ends with the step under way, and a run that begins with its new knobs comes to the same weights', async () => {
  const words = { ...config(1), language: 'words', imitationSteps: 40 } as const;
  const whole = await openSession(words, hostFor(NUMBERS), () => undefined);
  for (;;) {
    const event = (await whole.events.next()).value as RunEvent;
    if (event.type === 'imitated' && event.done === 2) break;
  }
  const knobs = whole.endImitation();
  expect(knobs).toEqual({ warmStart: 'train', imitationSteps: 3, imitationHorizon: 40 });
  const steps: RunEvent[] = [];
  for (;;) {
    const event = (await whole.events.next()).value as RunEvent;
    if (event.type === 'imitated') steps.push(event);
    if (event.type === 'metrics' && event.update === 1) break;
  }
  expect(steps).toMatchObject([{ done: 3, total: 3 }]);
  expect(whole.endImitation()).toBeNull();
  const checkpoint = await whole.checkpoint();
  expect([checkpoint.begun, checkpoint.config].map(({ imitationSteps }) => imitationSteps)).toEqual([3, 3]);
  const again = await openSession({ ...words, ...knobs }, hostFor(NUMBERS), () => undefined);
  await trainTo(again, 1);
  expect(await again.parametersHash()).toBe(await whole.parametersHash());
  for (const session of [whole, again]) session.dispose();
});

/** A session that goes on as if it had imitated all but one of `step` steps. */
async function openBefore(step: number, knobs: Partial<RunConfig>): Promise<{ session: Session; from: Checkpoint }> {
  const words = { ...config(1), language: 'words', imitationSteps: 0, ...knobs } as const;
  const first = await openSession(words, hostFor(NUMBERS), () => undefined);
  await imitate(first, 1);
  const { version: _, sum: __, progress, ...rest } = await first.checkpoint();
  first.dispose();
  const tries = [{ step: step - 40, solved: 0, expert: 4, played: 4 }];
  const from = checkpointOf({ ...rest, progress: { ...progress, imitated: step - 1, tries } });
  return { session: await openSession(words, hostFor(NUMBERS), () => undefined, { resumedFrom: from }), from };
}

/** The events of a session until `count` steps of imitation are done. */
async function imitate(session: Session, count: number): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for (;;) {
    const event = (await session.events.next()).value as RunEvent;
    if (event.type !== 'phase') events.push(event);
    if (events.filter(({ type }) => type === 'imitated').length === count) return events;
  }
}

test('a run that chooses its steps says their number as a knob, and with this knob from its start it is the same run', async () => {
  const { session, from } = await openBefore(6400, {});
  const events = await imitate(session, 3);
  const knobs = { warmStart: 'train', imitationSteps: 8000, imitationHorizon: 0 } as const;
  expect(events.slice(0, 2)).toMatchObject([
    { type: 'imitation-changed', knobs },
    { type: 'imitated', done: 6400, total: 8000, tries: { expert: 4 } },
  ]);
  const begun = { ...from.begun, ...knobs };
  const { version: _, sum: __, ...rest } = from;
  const again = await openSession(begun, hostFor(NUMBERS), () => undefined, {
    resumedFrom: checkpointOf({ ...rest, begun }),
  });
  await imitate(again, 3);
  expect(await again.parametersHash()).toBe(await session.parametersHash());
  for (const each of [session, again]) each.dispose();
});

test('a run that learns too little starts again larger, and then is the run that began with the larger sizes', async () => {
  const { width, layers, heads, kvHeads, ffn } = DEFAULTS;
  const { session, from } = await openBefore(6400, { width, layers, heads, kvHeads, ffn });
  const small = session.policy;
  const events = await imitate(session, 2);
  const larger = { width: 64, layers: 4 };
  expect(events).toMatchObject([
    { type: 'imitated', done: 6400 },
    { type: 'imitation-changed', knobs: larger, larger: { parameters: expect.any(Number) as number } },
    { type: 'imitated', done: 1 },
  ]);
  expect(session.policy).not.toBe(small);
  expect(session.config()).toMatchObject(larger);
  const saved = await session.checkpoint();
  expect(saved).toMatchObject({ begun: larger, progress: { imitated: 1, tries: [] } });
  const resumed = await openSession(saved.begun, hostFor(NUMBERS), () => undefined, { resumedFrom: saved });
  const fresh = await openSession({ ...from.begun, ...larger }, hostFor(NUMBERS), () => undefined);
  await imitate(session, 1);
  await imitate(resumed, 1);
  await imitate(fresh, 2);
  const hash = await session.parametersHash();
  expect([await resumed.parametersHash(), await fresh.parametersHash()]).toEqual([hash, hash]);
  for (const each of [session, resumed, fresh]) each.dispose();
});

const FILE: EnvironmentFile = { name: 'numbers.ts', text: NUMBERS };

/** A run's folder after an update, as it is saved, and its session. */
async function savedAfter(update: number) {
  const session = await open(NUMBERS);
  await trainTo(session, update);
  const checkpoint = await session.checkpoint();
  const run = runWithDefaults({ id: 0, name: 'mine', started: '2026-01-02T03:04:05.000Z', begun: config(1), update });
  return { session, files: checkpointFiles(packedRun({ ...run, environment: FILE, checkpoint })) };
}

test('a run that is saved with its environment and read again goes on to the weights of one that was not interrupted', async () => {
  const { session, files } = await savedAfter(1);
  await trainTo(session, 2);
  const read = readCheckpointFiles(files);
  if (read.kind !== 'ours') throw new Error('the folder is this project’s');
  expect(read.run.environment).toEqual(FILE);
  expect(new TextDecoder().decode(files.get(FILE_NAMES.environment))).toBe(NUMBERS);
  // it has its first weights with it: a changed file would demonstrate otherwise
  const changed = NUMBERS.replace('tool: "guess", arguments: { n: this.hidden }', 'tool: "guess", arguments: { n: 0 }');
  expect(changed).not.toBe(NUMBERS);
  for (const source of [NUMBERS, changed]) {
    const again = await open(source, 1, read.run.checkpoint);
    await trainTo(again, 2);
    expect(await again.parametersHash()).toBe(await session.parametersHash());
    again.dispose();
  }
  session.dispose();
});

test('a folder whose environment is missing or was changed is refused, and says which file to copy', async () => {
  const { session, files } = await savedAfter(1);
  session.dispose();
  const other = new TextEncoder().encode(`${NUMBERS}//`);
  expect(() => readCheckpointFiles(new Map([...files, [FILE_NAMES.environment, other]]))).toThrow(
    /environment\.ts.*checksum/s,
  );
  expect(() => readCheckpointFiles(new Map([...files].filter(([name]) => name !== FILE_NAMES.environment)))).toThrow(
    /environment\.ts.*no such file/s,
  );
});

test('a file that hangs in a later task stops training with its line, and the session is as it was after the last update', async () => {
  // tasks from 250 on are not measured when the file is opened, and the saved run has imitated already
  const session = await open(NUMBERS);
  await trainTo(session, 1);
  const whole = await session.checkpoint();
  session.dispose();
  const hanging = NUMBERS.replace('reset({ split, index, draw }): string {', '$& if (index > 250) for (;;);');
  const line = NUMBERS.split('\n').findIndex((text) => text.includes('reset({')) + 1;
  const broken = await open(hanging, 1, whole);
  await expect(trainTo(broken, 3)).rejects.toMatchObject({ problems: [{ line, what: /reset\(\) computed too long/ }] });
  expect((await broken.checkpoint()).sum).toBe(whole.sum);
  broken.dispose();
});

test.each(['guessTheWord', 'keyValueStore'])('the template %s can be trained on as it stands', async (name) => {
  const source = readFileSync(`public/environments/${name}.ts`, 'utf8');
  const env = await hostFor(source).ownEnvironment?.({ chatTokenizer: BYTES, think: false });
  expect(env?.maxTokens).toBeLessThan(1500); // of single bytes: a third of that in the shipped model's tokens
});

test('a run in words that goes on with a file that says other words is told which, instead of reading one word as another', async () => {
  const words = { ...config(1), language: 'words', warmStart: 'none' } as const;
  const session = await openSession(words, hostFor(NUMBERS), () => undefined);
  await trainTo(session, 1);
  const checkpoint = await session.checkpoint();
  session.dispose();
  const other = hostFor(NUMBERS.replace("'found'", "'bingo'"));
  const opened = openSession(words, other, () => undefined, { resumedFrom: checkpoint });
  await expect(opened).rejects.toThrow(/new: bingo; gone: found/);
});
