import { expect, test } from 'vitest';
import { ArmQueue } from '../src/runs/armQueue.ts';

/** Trainers that do what the test says, and an account of all that the queue did. */
function made(maxActive = 1) {
  const account: string[] = [];
  const under = new Map<string, { tell: (news: number) => void; done: (result: string) => void; fail: (why: unknown) => void }>(); // prettier-ignore
  let [trainers, ms] = [0, 0];
  const make = () => {
    const own = ++trainers;
    account.push(`trainer ${own}`);
    return {
      train: (arm: string, tell: (news: number) => void) => {
        account.push(`${own} trains ${arm}`);
        return new Promise<string>((done, fail) => under.set(arm, { tell, done, fail }));
      },
      setPaused: (still: boolean) => account.push(`${own} ${still ? 'stands still' : 'goes on'}`),
      end: (reason: string) => account.push(`${own} ends: ${reason}`),
    };
  };
  const listener = {
    onProgress: (arm: string, news: number) => account.push(`${arm} at ${news}`),
    onDone: (arm: string, result: string, seconds: number) => account.push(`${arm}: ${result} in ${seconds} s`),
    onFailure: (arm: string, why: unknown) => account.push(`${arm} failed: ${String(why)}`),
    onEnd: () => account.push('end'),
  };
  const queue = new ArmQueue<string, number, string>(make, listener, { maxActive, now: () => ms });
  /** What was done since the last look. */
  const since = async () => {
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    return account.splice(0);
  };
  const of = (arm: string) => {
    const found = under.get(arm);
    if (!found) throw new Error(`${arm} does not train`);
    return found;
  };
  return { queue, since, of, pass: (by: number) => (ms += by) };
}

test('arms are trained in order by one trainer, and their progress is told; at the end the trainer is ended', async () => {
  const { queue, since, of, pass } = made();
  queue.add(['A', 'B']);
  expect(await since()).toEqual(['trainer 1', '1 trains A']);
  expect(queue.unfinishedArms).toEqual(['A', 'B']);
  of('A').tell(3);
  pass(1500);
  of('A').done('a');
  expect(await since()).toEqual(['A at 3', 'A: a in 1.5 s', '1 trains B']);
  queue.add(['C']);
  expect(queue.unfinishedArms).toEqual(['B', 'C']);
  of('B').done('b');
  await since();
  of('C').done('c');
  expect(await since()).toEqual(['C: c in 0 s', '1 ends: No arm is left to train.', 'end']);
  of('C').tell(9); // too late
  expect(await since()).toEqual([]);
  expect(queue.unfinishedArms).toEqual([]);
});

test('so many arms as are allowed train at once, and the next begins when one of them has ended', async () => {
  const { queue, since, of } = made(2);
  queue.add(['A', 'B', 'C']);
  expect(await since()).toEqual(['trainer 1', '1 trains A', 'trainer 2', '2 trains B']);
  of('B').done('b');
  expect(await since()).toEqual(['B: b in 0 s', '2 trains C']);
  expect(queue.unfinishedArms).toEqual(['A', 'C']);
  of('A').done('a');
  expect(await since()).toEqual(['A: a in 0 s']);
  of('C').done('c');
  expect((await since()).at(-1)).toBe('end');
});

test('a pause holds the arm under way and begins none; its time does not count; the queue goes on where it was', async () => {
  const { queue, since, of, pass } = made();
  queue.add(['A', 'B']);
  pass(1000);
  queue.pause();
  pass(60_000);
  queue.resume();
  pass(500);
  queue.pause();
  expect((await since()).slice(2)).toEqual(['1 stands still', '1 goes on', '1 stands still']);
  of('A').done('a'); // it was at its end when it was held
  expect(await since()).toEqual(['A: a in 1.5 s']);
  expect([queue.paused, queue.unfinishedArms]).toEqual([true, ['B']]);
  queue.resume();
  expect(await since()).toEqual(['1 trains B']);
  queue.pause();
  of('B').done('b');
  expect((await since()).at(-1)).toBe('end');
  queue.add(['C']); // nothing was left to be paused
  expect(await since()).toEqual(['trainer 2', '2 trains C']);
});

test('an arm that fails is told with its reason, and the next one gets a fresh trainer', async () => {
  const { queue, since, of } = made();
  queue.add(['A', 'B']);
  await since();
  of('A').fail(new Error('out of memory'));
  expect(await since()).toEqual(['1 ends: out of memory', 'A failed: Error: out of memory', 'trainer 2', '2 trains B']);
});

test('a cancelled queue ends its trainers, also one that hangs, and nothing of its arms is heard any more', async () => {
  const { queue, since, of } = made(2);
  queue.add(['A', 'B', 'C']);
  await since();
  queue.cancel('left');
  expect(await since()).toEqual(['1 ends: left', '2 ends: left', 'end']);
  of('A').tell(1);
  of('A').done('a');
  of('B').fail(new Error('ended'));
  expect(await since()).toEqual([]);
  queue.cancel('again');
  expect(await since()).toEqual([]);
  queue.add(['D']);
  expect(await since()).toEqual(['trainer 3', '3 trains D']);
});

test('what was left when the page was closed goes on in the queue of the next page: the arm under way starts over', async () => {
  const first = made();
  first.queue.add(['A', 'B', 'C']);
  first.of('A').done('a');
  await first.since();
  const stored = [...first.queue.unfinishedArms];
  expect(stored).toEqual(['B', 'C']);
  const next = made();
  next.queue.add(stored);
  expect(await next.since()).toEqual(['trainer 1', '1 trains B']);
});

test('a queue that is given nothing is at its end', async () => {
  const { queue, since } = made();
  queue.cancel('none');
  expect(await since()).toEqual([]);
  queue.add([]);
  expect(await since()).toEqual(['end']);
});
