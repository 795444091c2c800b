import { access, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { tmpdir } from 'node:os';
import { expect, test, vi } from 'vitest';
import { writableFolder } from '../../src/cli/files.ts';

vi.mock('node:fs/promises', async (original) => ({ ...(await original<object>()), access: vi.fn(), mkdir: vi.fn() }));

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

test('a folder on a read-only disk is told as read-only, though mkdir calls it missing', async () => {
  // what Linux answers for a folder two levels down in a file system mounted read-only
  vi.mocked(access).mockImplementation(failing('EROFS'));
  vi.mocked(mkdir).mockImplementation(failing('ENOENT'));
  const folder = path.join(tmpdir(), 'none', 'below');
  await expect(writableFolder(folder)).rejects.toThrow(
    /below cannot be written to: it lies on a disk that is read-only\./,
  );
  expect(mkdir).not.toHaveBeenCalled();
});
