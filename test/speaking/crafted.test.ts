import { expect, test } from 'vitest';
import { ProblemError } from '../../src/base/problem.ts';
import { chatOf } from '../../src/speaking/conversation.ts';
import { openTextCheckpoint, modelCard } from '../../src/speaking/textCheckpoint.ts';
import { CRAFTED } from './crafted.ts';
import { processorClock } from '../processorClock.ts';

/** Text that slow patterns are slow in. */
const SAID = `${'a'.repeat(3000)} ${' '.repeat(3000)}`;
/**
 * Seconds of the processor, and bytes beside the file's own. The slowest file takes one second on a processor of 2024: one five times
 * slower may need it with a neighbour on its core, and what has no bound needs minutes on any. A person can cancel after three seconds.
 */
const [MOST_SECONDS, MOST_BYTES] = [20, 400e6];

test.each(Object.keys(CRAFTED))(
  `%s: opened or refused by its file within ${MOST_SECONDS} seconds of the processor and 400 MB`,
  async (kind) => {
    const files = CRAFTED[kind]!();
    const [seconds, memory] = [processorClock(), process.memoryUsage().rss];
    try {
      const checkpoint = await openTextCheckpoint(files);
      modelCard(checkpoint, kind, files);
      const { openingIds: begins, followingIds: follows } = chatOf(checkpoint.codec, checkpoint.template);
      expect(begins(SAID, SAID).length).toBeGreaterThan(0);
      follows(SAID, true);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      expect(error.message).toMatch(/: found [\s\S]*, expected /);
      expect(error.message.length).toBeLessThan(5000);
    }
    const used = { seconds: seconds(), bytes: process.memoryUsage().rss - memory };
    if (process.env['CRAFTED']) console.log(kind, used);
    expect(used.seconds).toBeLessThan(MOST_SECONDS);
    expect(used.bytes).toBeLessThan(MOST_BYTES);
  },
);
