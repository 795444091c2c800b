import { expect, test } from 'vitest';
import { recordUpdate } from '../src/cli/recordUpdate.ts';
import { parseConfig } from '../src/config/config.ts';
import { PRESETS } from '../src/config/presets.ts';
import type { BatchView } from '../src/domain/batch.ts';
import { Role } from '../src/domain/tokens.ts';
import { bytesInMemory } from '../src/formats/byteSource.ts';
import { type Recording, readRecording, recordingText } from '../src/runs/recording.ts';
import { runWithDefaults } from '../src/runs/run.ts';
import { RunLog } from '../src/runs/runLog.ts';
import { withUsedWords } from '../src/runs/usedWords.ts';
import { openSession } from '../src/session/session.ts';
import { openBase } from '../src/speaking/textCheckpoint.ts';
import { tinyGguf } from './speaking/tinyGguf.ts';
import { bareHost } from './bareHost.ts';

test('a run beside a checkpoint is recorded with the words it says alone, and every token of it still says the same', async () => {
  const config = parseConfig({
    ...{ ...PRESETS['smollm2-hunt'].set, estimator: 'reinforce', backend: 'cpu' },
    ...{ prompts: 1, groupSize: 2, maxTurns: 1, adapterRank: 2, adapterAlpha: 4, imitationSteps: 1, evalTasks: 1 },
  });
  const log = new RunLog(runWithDefaults({ id: 0, name: 'tiny', started: '2026-11-25T00:00:00Z', begun: config }));
  const base = await openBase('tiny.gguf', [{ path: 'tiny.gguf', source: bytesInMemory('tiny.gguf', tinyGguf()) }]);
  const session = await openSession(config, bareHost, (event) => event.type === 'ready' && log.add(event), {
    openedBase: base,
  });
  let batch: BatchView | null = null;
  for await (const event of session.events) {
    if (event.type === 'batch') batch = event.batch;
    if (event.type !== 'metrics') continue;
    session.history.keepState(event.update, (await session.policy.readState()).policy);
    if (event.update === 1) break;
  }
  const { task, readings } = await recordUpdate(session, batch!);
  const whole: Recording = {
    ...log.run,
    batches: [{ batch: task, config }],
    readings: new Map([[1, readings]]),
    plays: [],
  };
  const small = readRecording(recordingText(withUsedWords(whole)));
  const said = (run: Recording) => [...run.batches[0]!.batch.tokens].map((id) => run.vocabulary[id]);
  expect(whole.vocabulary).toHaveLength(263);
  expect(said(small)).toEqual(said(whole));
  expect(new Set(said(whole)).size).toBeGreaterThan(20);
  const { distributions, rerun } = small.readings.get(1)!;
  expect(distributions.length).toBeGreaterThan(0);
  expect(distributions.length).toBeLessThanOrEqual(16); // each takes seconds beside a checkpoint of 135 million
  for (const [i, { row, position, tokens }] of distributions.entries()) {
    expect(task.roles[row * task.length + position]).toBe(Role.action);
    expect(tokens.map((id) => small.vocabulary[id])).toEqual(
      readings.distributions[i]!.tokens.map((id) => whole.vocabulary[id]),
    );
  }
  for (const when of ['before', 'after'] as const) {
    expect([...rerun[when].tokens].map((id) => small.vocabulary[id])).toEqual(
      [...readings.rerun[when].tokens].map((id) => whole.vocabulary[id]),
    );
  }
  // no word is there that nothing says, but for the one that pads
  const used = [task, rerun.before, rerun.after].flatMap(({ tokens }, i) => (i === 0 ? [...small.batches[0]!.batch.tokens] : [...tokens])); // prettier-ignore
  const all = new Set([0, ...used, ...distributions.flatMap(({ tokens }) => tokens)]);
  expect(small.vocabulary).toHaveLength(all.size);
  expect(small.vocabulary[0]).toBe(whole.vocabulary[0]);
  session.dispose();
});
