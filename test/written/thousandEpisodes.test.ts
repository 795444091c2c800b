import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { TEMPLATES } from './templates.ts';
import { checksumOfPlays } from './thousandEpisodes.ts';

const machine = readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));

// If a template changes on purpose: npx vitest run --mode all --project unit test/written/thousandEpisodes.test.ts -u
test('the templates play the same thousand tasks in Node as when they were recorded', async () => {
  const lines: string[] = [];
  for (const [name, source] of TEMPLATES) lines.push(`${name} ${await checksumOfPlays(source, machine)}\n`);
  await expect(lines.join('')).toMatchFileSnapshot('./thousandEpisodes.txt');
});
