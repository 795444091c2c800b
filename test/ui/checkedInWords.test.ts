import { expect, test } from 'vitest';
import { checkedInWords } from '../../src/page/models/modelText.ts';

test('a downloaded model is called checked where the hub gave a checksum of every file, and nowhere else', () => {
  const file = (name: string, sum: 'sha256' | 'gitSha1' | null) => ({
    ...{ name, bytes: 1 },
    ...{ sha256: sum === 'sha256' ? 'a'.repeat(64) : null, gitSha1: sum === 'gitSha1' ? 'b'.repeat(40) : null },
  });
  const [strong, git, none] = [file('m', 'sha256'), file('c', 'gitSha1'), file('t', null)];
  expect(checkedInWords({ files: [strong, git] })).toBe('checked');
  expect(checkedInWords({ files: [strong, none] })).toMatch(/^checked except t\b/);
  expect(checkedInWords({ files: [none] })).toMatch(/^not checked/);
});
