import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenenvServer, openenvServer } from '../openenv/openenvServer.ts';
import { type Programs, programsIn } from './programsIn.ts';

let programs: Programs;
let server: OpenenvServer;
beforeAll(async () => {
  [programs, server] = await Promise.all([programsIn(), openenvServer()]);
});
afterAll(async () => {
  programs.remove();
  await server.kill();
});

const SIZES =
  '--layers 1 --width 16 --heads 2 --kvHeads 2 --ffn 16 --prompts 1 --groupSize 2 --minibatches 1 --evalTasks 4';
const NEW = `${SIZES} --warmStart none --seed 5 --updates 3 --entropyCoef 0.05 --backend cpu`.split(' ');
const train = (...args: readonly string[]) => programs.start('train', args).ended;
const hashOf = (out: string) =>
  (JSON.parse(out.trim().split('\n').at(-1) ?? '') as { parameters_hash: string }).parameters_hash;

test('a run on a server that is killed is saved, and goes on to the same weights once the address is named again', async () => {
  const served = ['--env-server', `${server.address}?turns=2&observation=16`];
  const whole = await train(...NEW, ...served);
  expect(whole.err).toContain(`127.0.0.1:${server.port}, seed 5: 3 updates`);
  expect(whole.code).toBe(0);
  const { port, kill } = server;
  let trained = 0;
  server.mischief = {
    instead: ({ type, data }) => {
      // four looked at what prompts are like, two were the first update
      if (type === 'reset' && data['split'] === 'train' && ++trained === 7) void kill();
      return undefined;
    },
  };
  const paused = await train(...NEW, ...served);
  expect(paused.code).toBe(1);
  expect(paused.err).toContain('saved in paused-run after update 1');
  expect(paused.err).toContain(`--resume paused-run --env-server 'ws://127.0.0.1:${port}/ws?turns=2&observation=16'`);
  server = await openenvServer({}, port);
  const unnamed = await train('--resume', 'paused-run');
  expect(unnamed.code).toBe(2);
  expect(unnamed.err).toContain(`--env-server 'ws://127.0.0.1:${port}/ws`);
  const asFile = await train('--resume', 'paused-run', '--env-file', 'paused-run/environment.ts');
  expect([asFile.code, asFile.err]).toEqual([1, expect.stringContaining('--env-server')]);
  expect(server.connections).toBe(0); // nothing connects before the address is named
  const on = await train('--resume', 'paused-run', ...served);
  expect(on.code).toBe(0);
  expect(hashOf(on.out)).toBe(hashOf(whole.out));
});

// which addresses are of this machine: openenv/serverAddress
test('an address elsewhere is refused before anything is sent', async () => {
  const { code, err } = await train('--env-server', 'ws://example.org/ws');
  expect(code).toBeGreaterThan(0);
  expect(err).toMatch(/this machine/);
});
