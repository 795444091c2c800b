// Environments that a person wrote in Python, and episodes of each as they are played here, 1,000 with SLOW_CASES set: test_python_classes.py plays them again in CPython.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startPython } from '../../../src/cli/pythonThread.ts';
import { toolSchema } from '../../../src/text/toolSchema.ts';
import { classSettings } from '../../../src/written/classSettings.ts';
import { TASK_SEED } from '../../../src/written/openEpisodes.ts';
import { chancePlayer, EXPERT, nonsensePlayer, playTasks, type TaskId } from '../../../src/written/plays.ts';
import { readPython } from '../../../src/written/python/pythonDeclaration.ts';
import { openPythonSandbox } from '../../../src/written/python/pythonSandbox.ts';

const out = process.argv[2] ?? '.';
const EPISODES = process.env['SLOW_CASES'] ? [334, 333] : [67, 66];
const FILES: Readonly<Record<string, string>> = {
  hiddenWord: 'public/environments/hiddenWord.py',
  sortCards: 'public/environments/sortCards.py',
  oddPython: 'test/written/oddPython.py',
  hintedPython: 'test/written/hintedPython.py',
};

for (const [name, file] of Object.entries(FILES)) {
  const text = readFileSync(file, 'utf8');
  const declaration = readPython(text);
  const sandbox = await openPythonSandbox(startPython, declaration);
  const { tasks, maxTurns } = classSettings(sandbox.statics);
  const { tools } = declaration;
  const players = { chance: chancePlayer(tools, 7), expert: EXPERT, nonsense: nonsensePlayer(tools, 3) } as const;
  const lines = Object.entries(players).flatMap(([by, player], at) => {
    const list = Array.from({ length: EPISODES[Number(by !== 'chance')] ?? 0 }, (_, i): TaskId => {
      const split = i % 5 === 4 ? 'test' : 'train';
      return { split, index: (31 * i + at) % tasks[split] };
    });
    const plays = playTasks(sandbox, tools, list, { seed: TASK_SEED, maxTurns, player });
    return plays.map((play) => JSON.stringify({ ...play, by }));
  });
  sandbox.dispose();
  const folder = path.join(out, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${name}.py`), text);
  writeFileSync(path.join(folder, 'episodes.jsonl'), `${lines.join('\n')}\n`);
  const schemas = tools.map(toolSchema);
  writeFileSync(path.join(folder, 'class.json'), JSON.stringify({ name: declaration.name, schemas }));
}
