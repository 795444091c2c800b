import { expect, test } from 'vitest';
import { languageOf } from '../../src/domain/environmentFile.ts';
import { TEMPLATES } from '../../src/page/environment/templates.ts';
import { firstRows } from '../weekly.ts';
import { virtualMachine } from '../../src/worker/ownEnvironmentOpener.ts';
import recorded from '../written/thousandEpisodes.txt?raw';
import { checksumOfPlays } from '../written/thousandEpisodes.ts';

const SCRIPTS = TEMPLATES.filter(({ file }) => languageOf(file) === 'typescript');

// that the browser's machine computes as Node's does; Node plays them all (test/written/thousandEpisodes.test.ts)
test.each(firstRows(SCRIPTS, 1))(
  '$file.name plays the same thousand tasks in the browser as in Node',
  async ({ file }) => {
    const checksum = await checksumOfPlays(file.text, await virtualMachine());
    expect(recorded).toContain(`${file.name} ${checksum}\n`);
  },
);
