import path from 'node:path';
import { readFlags } from '../../tools/flags.mjs';
import { openDawn } from '../dawn.ts';
import { ConfigError } from '../../src/config/configProblem.ts';
import { BackendError } from '../../src/model/policy.ts';
import { visible } from '../../src/base/visible.ts';
import { callerPath, namesIn, readWhole } from '../../src/cli/files.ts';
import { ProblemError } from '../../src/base/problem.ts';
import { checkAdvantages } from './goldenAdvantages.ts';
import { checkGolden, type GoldenLine } from './goldenCheck.ts';
import { parseGolden } from './goldenFixture.ts';
import { program } from '../../src/cli/program.ts';

/** Maximum size of a fixture, in bytes. */
const MAX_BYTES = 500e6;
const USAGE = 'npm run golden -- DIR…   (folders of fixtures, as test/golden/README.md describes them)';

/**
 * `npm run golden`: computes every fixture of the folders on the GPU engine and compares. Returns exit code 1 if a
 * number is out of bounds.
 */
async function main(args: readonly string[]): Promise<number> {
  const { positionals: folders, problems } = readFlags(args, {});
  if (folders.length === 0 && problems.length === 0) problems.push({ what: 'golden needs at least one folder.' });
  if (problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  const fixtures = folders.map((folder) => ({ folder, files: namesIn(callerPath(folder)) }));
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
  const check = async (folder: string, file: string) => {
    const bytes = await readWhole(path.join(callerPath(folder), file), MAX_BYTES);
    if (file.endsWith('.safetensors')) return checkGolden(gpu, parseGolden(file, bytes.buffer));
    return checkAdvantages(gpu, new TextDecoder().decode(bytes), file);
  };
  for (const { folder, files } of fixtures) {
    for (const file of files.filter((name) => /\.(?:safetensors|json)$/.test(name))) {
      try {
        print(file, await check(folder, file));
      } catch (error) {
        if (error instanceof BackendError) throw error; // the GPU is missing or unfit: no other fixture can mend that
        checked++;
        failed++;
        const why = error instanceof Error ? error.message : String(error);
        console.log(`FAIL ${visible(path.join(folder, file), 4096)}: ${why.replace(`${file}: `, '')}`);
      }
    }
  }
  if (checked === 0) {
    throw new ProblemError(
      `${folders.map(visible).join(', ')}: there are no fixtures (*.safetensors or *.json, as test/golden/README.md says).`,
    );
  }
  console.log(`${checked - failed} within bounds, ${failed} out of bounds`);
  return failed > 0 ? 1 : 0;
}

await program('golden', USAGE, main);
