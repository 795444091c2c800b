import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';

// scripts/start.mjs over a placeholder page, so that nobody else's dist is rebuilt while it is being served.
let root = '';
beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'start-'));
  mkdirSync(path.join(root, 'scripts'));
  for (const file of ['start.mjs', 'serveHere.mjs', 'page-server.mjs', 'watchedFolder.mjs', 'page-policy.mjs']) {
    copyFileSync(`scripts/${file}`, path.join(root, 'scripts', file));
  }
  symlinkSync(path.resolve('node_modules'), path.join(root, 'node_modules'), 'junction');
  writeFileSync(path.join(root, 'package.json'), '{ "type": "module" }');
  writeFileSync(path.join(root, 'index.html'), '<!doctype html><title>placeholder</title>');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Run {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

function start(port: string): Run {
  const child = spawn(process.execPath, ['scripts/start.mjs'], {
    cwd: root,
    env: { ...process.env, PORT: port, CI: 'true' }, // CI: no browser opens
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const hear = (chunk: Buffer) => (output += chunk.toString());
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  return { child, output: () => output, ended: new Promise((resolve) => child.once('close', resolve)) };
}

/** A server on a port the system chose. */
async function listening(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { server, port: address.port };
}

async function freePort(): Promise<number> {
  const { server, port } = await listening();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('a busy port is an error that names it, before anything is built', async () => {
  const { server, port } = await listening();
  const run = start(String(port));
  expect(await run.ended).toBe(1);
  server.close();
  expect(run.output()).toContain(`Port ${port} is busy`);
  expect(run.output()).toContain(`PORT=${port + 1} npm start`);
  expect(existsSync(path.join(root, 'dist'))).toBe(false);
});

test.each(['http', '0', '70000', '-1', '80.5', '0x50'])('PORT=%s is refused', async (port) => {
  const run = start(port);
  expect(await run.ended).toBe(1);
  expect(run.output()).toContain(`PORT can’t be ${port}. Use a whole number from 1 to 65535`);
});

test('serves the built page at the address it prints, and Ctrl-C ends it cleanly', async () => {
  const port = await freePort();
  const run = start(String(port));
  await expect.poll(run.output).toContain(`http://127.0.0.1:${port}/`);
  const page = await fetch(`http://127.0.0.1:${port}/`);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('placeholder');
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  run.child.kill('SIGINT');
  expect(await run.ended).toBe(0);
});
