import { expect, it } from 'vitest';
import { nodeHost } from '../src/cli/nodeHost.ts';
import { parseConfig } from '../src/config/config.ts';
import { PRESETS } from '../src/config/presets.ts';
import { parseFacts } from '../src/facts/parse.ts';
import { openSession } from '../src/session/session.ts';

/** Twenty-four towns, each in a region, each region in a country. */
const FACTS = Array.from({ length: 24 }, (_, i) => [
  `Town ${i},lies in,Region ${i % 6}`,
  `Region ${i % 6},belongs to,Country ${i % 3}`,
])
  .flat()
  .join('\n');

// On the CPU sums run in one order, so moved code must not move a bit. Where a change means to, `vitest -u` writes the
// file anew, and the journal (docs/journal) says why.
it('every preset trains to the very weights it trained to before (CPU, seed 1, two updates of four prompts, of two in text)', async () => {
  const host = await nodeHost(false);
  const lines: string[] = [];
  for (const [name, { set }] of Object.entries(PRESETS)) {
    const prompts = 'language' in set ? 2 : 4; // an update in text takes ten times as long
    const config = parseConfig({ ...set, seed: 1, prompts, updates: 2, evalTasks: 4, backend: 'cpu' });
    if (config.model === 'checkpoint') continue; // its bits depend on a file that is not here: adaptedRun.test.ts has one
    const facts = config.env === 'your-facts' ? parseFacts('towns.csv', FACTS).facts : null;
    const session = await openSession(config, host, () => undefined, { facts });
    for await (const event of session.events) {
      if (event.type === 'error') throw new Error(`${name}: ${event.message}`);
      if (event.type === 'running' && event.finished) break;
    }
    lines.push(`${await session.parametersHash()} ${name}`);
    session.dispose();
  }
  expect(new Set(lines.map((line) => line.slice(0, 8))).size).toBe(lines.length);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('sameBits.txt');
}, 1_800_000); // it begins while much else does
