import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { trainerState } from '../metricLogs/writtenLogs.ts';
import { shippedRecording } from '../shippedRecording.ts';
import { bundled } from './bundled.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'doctor-'));
let program = '';
beforeAll(async () => {
  program = (await bundled())('doctor');
  writeFileSync(path.join(folder, 'trainer_state.json'), trainerState(shippedRecording('break-it')));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const doctor = (...args: readonly string[]) =>
  spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', env: { ...process.env, CALLER_FOLDER: folder } }); // prettier-ignore

test('doctor FILE prints the findings with their steps, what people try, and what can’t be judged', () => {
  const { stdout, status } = doctor('trainer_state.json');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^trainer_state\.json, TRL: 60 entries of training, updates 1–60\n/);
  expect(stdout).toMatch(/Found:\n +WATCH: Most groups have no spread \(updates 5–60\)\n/);
  expect(stdout).toMatch(/People try: .*\n +In the page: #\/answers\/group-size\n/);
  expect(stdout).toMatch(/Not judged:\n +The log has no success/);
});

test('doctor --json prints one object with findings and curves; a missing file and two files are errors', () => {
  const printed = JSON.parse(doctor('trainer_state.json', '--json').stdout) as { findings: object[]; curves: object };
  expect(printed.findings[0]).toMatchObject({ illness: 'flat', state: 'watch' });
  expect(printed.curves).toHaveProperty(['actor/entropy', 'steps', 59], 60);
  expect(doctor('none.json')).toMatchObject({ status: 1, stdout: '' });
  expect(doctor('a', 'b')).toMatchObject({ status: 2, stdout: '' });
});
