import { expect, test } from 'vitest';
import { SUBJECTS, transcript } from './transcripts.ts';

// The file was read through when it was written; `vitest -u` writes it anew, for a change of what environments say that is meant.
test.each(SUBJECTS.map(([name, knobs], i) => [i, name, knobs] as const))(
  'environment %i, %s %j, says and pays word for word what is written down',
  async (i, name, knobs) => {
    const told = transcript(name, knobs);
    expect(told).toMatch(/success\]/);
    await expect(told).toMatchFileSnapshot(`transcripts/${String(i).padStart(2, '0')}-${name}.txt`);
  },
);
