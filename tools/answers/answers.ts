import { writeFile } from 'node:fs/promises';
import { program } from '../../src/cli/program.ts';
import { type Answer, RECORDED_SEEDS } from '../../src/page/learn/answer.ts';
import { ANSWERS } from '../../src/page/learn/answerList.ts';
import type { Finding } from '../../src/page/learn/exercise.ts';
import { keyOf } from '../../src/page/learn/exerciseResult.ts';
import { RECORDED } from '../../src/page/learn/recordedAnswers.ts';
import { trainedArm } from './trainedArm.ts';

const FILE = 'src/page/learn/recordedAnswers.ts';
const DIGITS = 5; // of a recorded number

/**
 * `node scripts/cli.mjs answers [ANSWER …]`: trains every trial of the answers (all without a name) with each recorded
 * seed, prints a line of JSON for each run, and writes the findings into src/page/learn/recordedAnswers.ts.
 */
async function main(names: readonly string[]): Promise<number> {
  const wanted: readonly Answer[] = ANSWERS.filter(({ id }) => names.length === 0 || names.includes(id));
  const recorded: Record<string, readonly Finding[]> = { ...RECORDED };
  for (const answer of wanted) {
    for (const trial of answer.trials) {
      const findings: Finding[] = [];
      for (const seed of RECORDED_SEEDS) {
        const [arm] = trial.arms;
        const { answer: shown, numbers } = trial.findingOf([await trainedArm(arm, seed)]);
        const rounded = Object.entries(numbers).map(([name, n]) => [name, Number(n.toPrecision(DIGITS))] as const);
        findings.push({ answer: shown, numbers: Object.fromEntries(rounded) });
        console.log(JSON.stringify({ question: answer.id, trial: trial.id, seed, ...arm, ...findings.at(-1) }));
      }
      recorded[keyOf(answer.id, trial.id)] = findings;
    }
  }
  const lines = ANSWERS.flatMap(({ id, trials }: Answer) => trials.map((trial) => keyOf(id, trial.id)))
    .filter((key) => recorded[key])
    .map((key) => `  '${key}': ${JSON.stringify(recorded[key])},\n`);
  await writeFile(FILE, `${HEAD}${lines.join('')}};\n`);
  return 0;
}

const HEAD = `import type { RecordedFindings } from './answer.ts';

/** Written by tools/answers. */
// prettier-ignore
export const RECORDED: RecordedFindings = {
`;

await program('answers', 'node scripts/cli.mjs answers [ANSWER …]', main);
