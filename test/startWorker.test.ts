import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { placeProblem } from '../src/base/pagePlace.ts';
import { startWorker, workerFailure } from '../src/wire/startWorker.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function refused(): Worker {
  throw new DOMException('Script cannot be accessed from origin null', 'SecurityError');
}

test('a worker that the browser refuses to start ends with an error that says why, unless it was ended before', () => {
  vi.useFakeTimers();
  const failures: string[] = [];
  const heard = (name: string) => (event: ErrorEvent) => failures.push(workerFailure(name, event));
  const [worker, ended] = [startWorker(refused), startWorker(refused)];
  worker.onerror = heard('first');
  worker.addEventListener('error', heard('second'));
  worker.postMessage({ type: 'run' });
  ended.onerror = heard('ended');
  ended.terminate();
  expect(failures).toEqual([]); // not within the caller's own call
  vi.runAllTimers();
  expect(failures.map((text) => text.split(' ', 1)[0])).toEqual(['first', 'second']);
  expect(failures[0]).toContain('Script cannot be accessed from origin null');
});

// protocol, origin, secure: what the reader should do
test.each([
  ['file:', 'null', true, /npm start/],
  ['https:', 'null', true, /tab of its own/],
  ['http:', 'http://192.168.0.9:4173', false, /https|localhost/],
])('on %s from %s, each failure says what to do', (protocol, origin, isSecureContext, remedy) => {
  vi.useFakeTimers();
  const place = { location: { protocol }, origin, isSecureContext };
  expect(placeProblem(place)).toMatch(remedy);
  for (const [name, value] of Object.entries(place)) vi.stubGlobal(name, value);
  let words = '';
  startWorker(refused).onerror = (event) => (words = workerFailure('It', event));
  vi.runAllTimers();
  expect(words).toMatch(remedy);
  expect(workerFailure('It', { message: '' })).toMatch(remedy); // its script did not load
  expect(workerFailure('It', { message: 'out of memory' })).toBe('It stopped: out of memory');
});

test('a page from a good place, and Node, have no such problem', () => {
  expect(placeProblem()).toBe(null);
  const good = { location: { protocol: 'https:' }, origin: 'https://page', isSecureContext: true };
  expect(placeProblem(good)).toBe(null);
});

test('every worker of the page is started by startWorker', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && !file.startsWith('cli'),
  );
  const starts = files.flatMap((file) =>
    Array.from(readFileSync(path.join('src', file), 'utf8').matchAll(/(.*)new (?:Shared)?Worker\(/g), ([, before]) => ({
      file,
      before,
    })),
  );
  expect(starts.length).toBe(7);
  expect(starts.filter(({ before = '' }) => !before.endsWith('() => '))).toEqual([]);
});
