import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { openDawn } from '../../tools/dawn.ts';
import { checkAdvantages } from './goldenAdvantages.ts';
import { checkGolden, type GoldenLine } from './goldenCheck.ts';
import { parseGolden } from './goldenFixture.ts';

const USAGE = 'npm run golden -- DIR…   (folders of fixtures, as test/golden/README.md describes them)';

/** `npm run golden`: every fixture of the folders on the GPU engine; 1 when a number is out of bounds. */
async function main(folders: readonly string[]): Promise<number> {
  if (folders.length === 0) {
    console.error(`golden: got no folder.\n  ${USAGE}`);
    return 2;
  }
  const gpu = await openDawn();
  let checked = 0;
  let failed = 0;
  const print = (file: string, lines: readonly GoldenLine[]) => {
    for (const { group, worst, error, bound } of lines) {
      const ok = error <= bound;
      checked++;
      if (!ok) failed++;
      console.log(
        `${ok ? 'ok  ' : 'FAIL'} ${file} ${group.padEnd(50)} ${error.toExponential(2)} ${ok ? '≤' : '>'} ${bound.toExponential(1)} (${worst})`,
      );
    }
  };
  for (const folder of folders) {
    const files = (await readdir(folder)).sort();
    for (const file of files) {
      const bytes = () => readFile(path.join(folder, file)).then((b) => new Uint8Array(b).buffer);
      if (file.endsWith('.safetensors')) print(file, await checkGolden(gpu, parseGolden(file, await bytes())));
      if (file.endsWith('.json')) print(file, await checkAdvantages(gpu, new TextDecoder().decode(await bytes())));
    }
  }
  if (checked === 0) {
    console.error(`golden: no fixture in ${folders.join(', ')}; want *.safetensors or *.json.`);
    return 2;
  }
  console.log(`${checked - failed} within bounds, ${failed} out of bounds`);
  return failed > 0 ? 1 : 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(`golden: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 2;
}
