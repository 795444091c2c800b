import type { BaseCheckpoint } from '../checkpoints/baseCheckpoint.ts';
import { blobSource } from '../formats/byteSource.ts';
import type { RunCommand } from '../wire/commands.ts';

/** The checkpoint of files that a person picked; what reads it is only loaded where there is one. Throws as `openBase` does. */
export async function openPickedBase({
  name,
  files,
}: NonNullable<Extract<RunCommand, { type: 'start' }>['base']>): Promise<BaseCheckpoint> {
  const { openBase } = await import('../speaking/openBase.ts');
  return openBase(
    name,
    files.map(({ path, file }) => ({ path, source: blobSource(path, file) })),
  );
}
