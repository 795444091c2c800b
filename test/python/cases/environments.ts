// Environments that a person wrote, exported, and episodes of each as the sandbox plays them (1,000 with SLOW_CASES set): test_environments.py plays them again.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Purpose, random } from '../../../src/base/rng.ts';
import { classSettings, weightedReward } from '../../../src/written/classSettings.ts';
import { readDeclaration } from '../../../src/written/script/declaration.ts';
import { exportFolder } from '../../../src/handover/classFolder.ts';
import { TASK_SEED } from '../../../src/written/openEpisodes.ts';
import {
  chancePlayer,
  type Chooser,
  EXPERT,
  nonsensePlayer,
  playTasks,
  type TaskId,
} from '../../../src/written/plays.ts';
import { openSandbox } from '../../../src/written/script/sandbox.ts';
import { ODD_ENVIRONMENT } from '../../written/oddEnvironment.ts';
import { SIGNS } from '../../written/numbers.ts';

const out = process.argv[2] ?? '.';
const machine = readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));
const shipped = (name: string) => readFileSync(path.join('public', 'environments', `${name}.ts`), 'utf8');
const templates = readdirSync(path.join('public', 'environments'))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
  .map((file) => file.slice(0, -'.ts'.length));
const ENVIRONMENTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(templates.map((name) => [name, shipped(name)])),
  odd: ODD_ENVIRONMENT,
  signs: SIGNS,
  endless: shipped('guessTheWord').replace('this.guesses.push(word);', 'for (;;);'),
  // inside the virtual machine, where only ending it helps
  stuck: shipped('guessTheWord').replace('this.guesses.push(word);', "'a'.repeat(1e6).indexOf('a'.repeat(5e5) + 'b');"),
};
/** One episode of each player is enough: no test plays them again. */
const ONCE = ['signs', 'endless', 'stuck'];

for (const [name, text] of Object.entries(ENVIRONMENTS)) {
  const declaration = readDeclaration(text);
  const sandbox = await openSandbox(machine, declaration);
  const settings = classSettings(sandbox.statics);
  const folder = path.join(out, name);
  const files = exportFolder({ file: { name: `${name}.ts`, text }, declaration, settings, quickjsWasm: machine });
  for (const [file, bytes] of files) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), bytes);
  }
  const { tools } = declaration;
  /** Now and then a call that can't be made, or words instead of one. */
  const chance = chancePlayer(tools, 7);
  const mistaken: Chooser = (played, episode) => {
    const draw = random(11, Purpose.baseline, episode, played.replies.length);
    const move = chance(played, episode);
    const kind = draw.int(8);
    if (move === null || 'answer' in move || kind > 4) return move;
    if (kind === 0) return { answer: 'I don’t know' };
    if (kind === 1) return { ...move, tool: 'nothing' };
    if (kind === 2) return { ...move, values: { ...move.values, stray: 1 } };
    return {
      ...move,
      values: Object.fromEntries(Object.keys(move.values).map((key) => [key, kind === 3 ? null : [1]])),
    };
  };
  const players = { chance, expert: EXPERT, mistaken, nonsense: nonsensePlayer(tools, 3) } as const;
  const lines = Object.entries(players).flatMap(([by, player], at) => {
    const tasks = Array.from(
      { length: ONCE.includes(name) ? 1 : name === 'odd' || process.env['SLOW_CASES'] ? 250 : 50 },
      (_, i): TaskId => {
        const split = i % 5 === 4 ? 'test' : 'train';
        return { split, index: (31 * i + at) % settings.tasks[split] };
      },
    );
    const plays = playTasks(sandbox, tools, tasks, { seed: TASK_SEED, maxTurns: settings.maxTurns, player });
    return plays.map((play) => JSON.stringify({ ...play, by, reward: weightedReward(play.parts ?? {}, settings) }));
  });
  writeFileSync(path.join(folder, 'episodes.jsonl'), `${lines.join('\n')}\n`);
  sandbox.dispose();
}
