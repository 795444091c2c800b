import { readdirSync, readFileSync } from 'node:fs';
import { parseGolden, type Golden } from '../../tools/golden/goldenFixture.ts';

export { relativeError, type Golden } from '../../tools/golden/goldenFixture.ts';

const FOLDER = new URL('../golden/', import.meta.url);

/** Every policy fixture in test/golden. */
export function goldens(): Golden[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.safetensors'))
    .sort()
    .map((file) => parseGolden(file, new Uint8Array(readFileSync(new URL(file, FOLDER))).buffer));
}
