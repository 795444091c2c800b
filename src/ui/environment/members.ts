/** A member that an environment's class may have, as the editor offers it. `snippet` has `${…}` where something is to be written. */
interface Member {
  readonly label: string;
  readonly doc: string;
  readonly snippet: string;
}

/** Methods that the playground calls, the fields it reads, and a tool to begin with. */
export const MEMBERS: readonly Member[] = [
  {
    label: 'reset',
    doc: 'Begins a task; returns what the agent is told.',
    snippet: "reset({ draw }: Task): string {\n  ${}\n  return '${what the agent is told}';\n}",
  },
  {
    label: 'tool',
    doc: 'Any other public method is a tool; its comment is what the agent is told of it.',
    snippet:
      '/**\n * ${What it does.}\n * @param ${word} ${what it is}\n */\n${name}(${word}: string): string {\n  ${}\n  return ${word};\n}',
  },
  {
    label: 'getReward',
    doc: 'What the episode earned, in named parts.',
    snippet: 'getReward() {\n  return { solved: ${this.done ? 1 : 0} };\n}',
  },
  {
    label: 'expert',
    doc: 'The next call of a player that knows the answer.',
    snippet: "expert() {\n  return { tool: '${name}', arguments: { ${word}: ${this.secret} } };\n}",
  },
  {
    label: 'turnReward',
    doc: 'What the last call is paid, beside the reward at the end.',
    snippet: 'turnReward(): number {\n  return ${0};\n}',
  },
  {
    label: 'answer',
    doc: 'Takes words without a call, which end the episode.',
    snippet: 'answer(text: string): void {\n  ${this.said = text;}\n}',
  },
  {
    label: 'stateKey',
    doc: 'A short text that is the same for the same state.',
    snippet: "stateKey(): string {\n  return ${''};\n}",
  },
  {
    label: 'observe',
    doc: 'What the agent is shown of the history.',
    snippet: 'observe(history: string): string {\n  return ${history};\n}',
  },
  { label: 'view', doc: 'A picture of the state, for people.', snippet: "view() {\n  return ${''};\n}" },
  {
    label: 'static tasks',
    doc: 'How many tasks there are.',
    snippet: 'static tasks = { train: ${400}, test: ${100} };',
  },
  { label: 'static maxTurns', doc: 'How many turns an episode has.', snippet: 'static maxTurns = ${4};' },
  {
    label: 'static weights',
    doc: 'What each part of the reward counts.',
    snippet: 'static weights = { ${solved}: 1 };',
  },
  { label: 'done', doc: 'Ends the episode once it is true.', snippet: 'done = false;' },
];
