/** A member that an environment's class may have, as the editor offers it. `snippet` has `${…}` around each placeholder; a number has to be written `${1:400}`. */
interface Member {
  readonly label: string;
  readonly doc: string;
  readonly snippet: string;
}

/** Methods that the playground calls, the fields it reads, and a tool to begin with. */
export const MEMBERS: readonly Member[] = [
  {
    label: 'reset',
    doc: 'Begins a task and returns its prompt.',
    snippet: "reset({ draw }: Task): string {\n  ${}\n  return '${the prompt}';\n}",
  },
  {
    label: 'tool',
    doc: 'Every other public method is a tool. Its comment describes it to the agent.',
    snippet:
      '/**\n * ${What it does.}\n * @param ${word} ${what it is}\n */\n${name}(${word}: string): string {\n  ${}\n  return ${word};\n}',
  },
  {
    label: 'getReward',
    doc: 'Returns the reward of the episode, in named parts.',
    snippet: 'getReward() {\n  return { solved: ${this.done ? 1 : 0} };\n}',
  },
  {
    label: 'expert',
    doc: 'Returns the next call of a player that knows the answer.',
    snippet: "expert() {\n  return { tool: '${name}', arguments: { ${word}: ${this.secret} } };\n}",
  },
  {
    label: 'turnReward',
    doc: 'Returns the reward of the last call. The reward at the end comes on top.',
    snippet: 'turnReward(): number {\n  return ${1:0};\n}',
  },
  {
    label: 'answer',
    doc: 'Receives a text that the agent writes without a call. It ends the episode.',
    snippet: 'answer(text: string): void {\n  ${this.said = text;}\n}',
  },
  {
    label: 'stateKey',
    doc: 'Returns a short text, the same for the same state.',
    snippet: "stateKey(): string {\n  return ${''};\n}",
  },
  {
    label: 'observe',
    doc: 'Returns the text that an agent would read instead of all past turns.',
    snippet: "observe(history: readonly Turn[]): string {\n  return ${history.at(-1)?.answer ?? ''};\n}",
  },
  {
    label: 'view',
    doc: 'Returns what the page draws beside the calls. The agent doesn’t see it.',
    snippet: "view() {\n  return ${''};\n}",
  },
  {
    label: 'static tasks',
    doc: 'The number of training and test tasks.',
    snippet: 'static tasks = { train: ${1:400}, test: ${2:100} };',
  },
  { label: 'static maxTurns', doc: 'The largest number of turns in an episode.', snippet: 'static maxTurns = ${1:4};' },
  {
    label: 'static weights',
    doc: 'The weight of each part of the reward.',
    snippet: 'static weights = { ${solved}: 1 };',
  },
  { label: 'done', doc: 'Set it to true to end the episode.', snippet: 'done = false;' },
];
