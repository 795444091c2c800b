import type { EnvironmentFile, EnvironmentLanguage } from '../../domain/environmentFile.ts';

/** The smallest class that can be played, as a snippet: `${…}` around each placeholder, a number as `${1:400}`. */
export const EMPTY_CLASS: Readonly<Record<EnvironmentLanguage, string>> = {
  typescript: [
    "import type { Task } from './environment.d.ts';",
    '',
    '/** ${What the agent has to do.} */',
    'export default class ${MyTask} {',
    '  static tasks = { train: ${1:400}, test: ${2:100} };',
    '  static maxTurns = ${3:4};',
    '',
    '  done = false;',
    '',
    '  reset({ draw }: Task): string {',
    "    return '${the prompt}';",
    '  }',
    '',
    '  /** ${What the tool does.} */',
    '  ${tool}(${word}: string): string {',
    "    this.done = ${word} === '${the answer}';",
    "    return this.done ? 'right' : 'wrong';",
    '  }',
    '',
    '  getReward() {',
    '    return { solved: ${this.done ? 1 : 0} };',
    '  }',
    '',
    '  /** The next call of a good player, which training imitates first. */',
    '  expert() {',
    "    return { tool: '${tool}', arguments: { ${word}: '${the answer}' } };",
    '  }',
    '}',
    '',
  ].join('\n'),
  python: [
    'import random',
    '',
    '',
    'class ${MyTask}:',
    '    """${What the agent has to do.}"""',
    '',
    '    tasks = {"train": ${1:400}, "test": ${2:100}}',
    '    max_turns = ${3:4}',
    '',
    '    def reset(self, **kwargs) -> str:',
    '        self.done = False',
    '        return "${the prompt}"',
    '',
    '    def ${tool}(self, ${word}: str) -> str:',
    '        """${What the tool does.}"""',
    '        self.done = ${word} == "${the answer}"',
    '        return "right" if self.done else "wrong"',
    '',
    '    def get_reward(self) -> dict:',
    '        return {"solved": 1.0 if self.done else 0.0}',
    '',
    '    def _expert(self):',
    '        """The next call of a good player, which training imitates first."""',
    '        return "${tool}", {"${word}": "${the answer}"}',
    '',
  ].join('\n'),
};

/** A new file with the smallest class, its placeholders filled in. */
export function emptyFile(language: EnvironmentLanguage): EnvironmentFile {
  const text = EMPTY_CLASS[language].replaceAll(/\$\{(?:\d+:)?([^}]*)\}/g, '$1');
  return { name: language === 'python' ? 'myTask.py' : 'myTask.ts', text };
}
