import { expect, test } from 'vitest';
import { SUBJECTS, transcript } from './transcripts.ts';

// The file was read through when it was written; `vitest -u` writes it anew, for a change of what environments say that is meant.
const nth = (at: number) => SUBJECTS.slice(0, at).filter(([name]) => name === SUBJECTS[at]![0]).length;
test.each(SUBJECTS.map(([name, knobs], at) => [`${name}-${nth(at)}`, name, knobs] as const))(
  'environment %s, %s %j, says and pays word for word what is written down',
  async (file, name, knobs) => {
    const told = transcript(name, knobs);
    expect(told).toMatch(/success\]/);
    await expect(told).toMatchFileSnapshot(`transcripts/${file}.txt`);
  },
);
