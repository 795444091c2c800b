/** A snippet has `${…}` around each placeholder; a number must be written `${1:400}`. */
interface Member {
  readonly label: string;
  readonly pythonName: string;
  readonly doc: string;
  readonly snippet: string;
  readonly pythonSnippet: string; // empty if nothing is written in the class's body
}

export const MEMBERS: readonly Member[] = [
  {
    label: 'reset',
    pythonName: 'reset',
    doc: 'Begins a task and returns its prompt. Draw everything random from the task’s `draw`: int(n), pick(list), shuffle(list), chance(p), next().',
    snippet: "reset({ draw }: Task): string {\n  ${}\n  return '${the prompt}';\n}",
    pythonSnippet: 'def reset(self, **kwargs) -> str:\n    ${}\n    return "${the prompt}"',
  },
  {
    label: 'tool',
    pythonName: 'tool',
    doc: 'Every other public method is a tool. Its comment describes it to the agent. A parameter is a string, a number, a boolean or a choice of strings. The agent reads the text that the tool returns, or the message of its error. An error also costs the format penalty (0.1 by default).',
    snippet:
      '/**\n * ${What it does.}\n * @param ${word} ${what it is}\n */\n${name}(${word}: string): string {\n  ${}\n  return ${word};\n}',
    pythonSnippet:
      'def ${name}(self, ${word}: str) -> str:\n    """${What it does.}\n\n    Args:\n        ${word}: ${what it is}\n    """\n    return ${word}',
  },
  {
    label: 'getReward',
    pythonName: 'get_reward',
    doc: 'Returns the reward of the episode: a number, or its parts by name. The episode counts as solved if the reward, or its first part if it has parts, is at least 1.',
    snippet: 'getReward() {\n  return { solved: ${this.done ? 1 : 0} };\n}',
    pythonSnippet: 'def get_reward(self) -> dict:\n    return {"solved": ${1.0 if self.done else 0.0}}',
  },
  {
    label: 'expert',
    pythonName: '_expert',
    doc: 'Returns the next call of a good player: the tool’s name and its arguments, or a text that ends the episode. Training begins by imitating this player, so the player should use only what the agent has read.',
    snippet: "expert() {\n  return { tool: '${name}', arguments: { ${word}: ${this.secret} } };\n}",
    pythonSnippet: 'def _expert(self):\n    return "${name}", {"${word}": ${self.secret}}',
  },
  {
    label: 'turnReward',
    pythonName: '_turn_reward',
    doc: 'Returns the reward of the call just made. It is added to the reward of the episode.',
    snippet: 'turnReward(): number {\n  return ${1:0};\n}',
    pythonSnippet: 'def _turn_reward(self) -> float:\n    return ${1:0.0}',
  },
  {
    label: 'answer',
    pythonName: '_answer',
    doc: 'Is called with the agent’s text if the agent writes plain text instead of a call. Then the episode ends.',
    snippet: 'answer(text: string): void {\n  ${this.said = text;}\n}',
    pythonSnippet: 'def _answer(self, text: str) -> None:\n    ${self.said = text}',
  },
  {
    label: 'stateKey',
    pythonName: '_state_key',
    doc: 'Returns a short name of the state after a call, so that equal states can be recognised. The estimator gigpo compares turns that began in equal states; without it, in the same last answer. The check reads it too.',
    snippet: "stateKey(): string {\n  return ${''};\n}",
    pythonSnippet: 'def _state_key(self) -> str:\n    return ${""}',
  },
  {
    label: 'observe',
    pythonName: '_observe',
    doc: 'Returns a text that the agent reads instead of all past turns, if each turn is a training row (rows = turn) and shown = observe. It must not change the episode.',
    snippet: "observe(history: readonly Turn[]): string {\n  return ${history.at(-1)?.answer ?? ''};\n}",
    pythonSnippet: 'def _observe(self, history) -> str:\n    return ${history[-1]["answer"] if history else ""}',
  },
  {
    label: 'view',
    pythonName: '_view',
    doc: 'Returns a picture of the state, which the lab shows next to the rollout: a text, table, grid or line. The agent doesn’t see it.',
    snippet: "view() {\n  return ${''};\n}",
    pythonSnippet: 'def _view(self):\n    return ${""}',
  },
  {
    label: 'static tasks',
    pythonName: 'tasks',
    doc: 'The number of training and test tasks.',
    snippet: 'static tasks = { train: ${1:400}, test: ${2:100} };',
    pythonSnippet: 'tasks = {"train": ${1:400}, "test": ${2:100}}',
  },
  {
    label: 'static maxTurns',
    pythonName: 'max_turns',
    doc: 'The largest number of turns in an episode, 8 if it is missing.',
    snippet: 'static maxTurns = ${1:4};',
    pythonSnippet: 'max_turns = ${1:4}',
  },
  {
    label: 'static weights',
    pythonName: 'weights',
    doc: 'The weight of each part of the reward, 1 if it is missing.',
    snippet: 'static weights = { ${solved}: 1 };',
    pythonSnippet: 'weights = {"${solved}": 1}',
  },
  {
    label: 'done',
    pythonName: 'self.done',
    doc: 'Set it to true to end the episode. The episode also ends after the last turn.',
    snippet: 'done = false;',
    pythonSnippet: '',
  },
];
