import { type FieldName, FIELDS, type RunConfig } from '../../src/config/config.ts';
import type { EnvSettings, Episode, Reset, ToolEnv } from '../../src/envs/env.ts';
import { Purpose, random, type Random } from '../../src/base/rng.ts';
import { subject } from './checker.ts';

/** What is written down: every environment as its preset has it, and those of its knobs that change what is said. */
export const SUBJECTS: readonly (readonly [RunConfig['env'], Readonly<Partial<Record<FieldName, unknown>>>])[] = [
  ...FIELDS.env.choices.map((env) => [env, {}] as const),
  ['number-hunt', { range: 9, think: 'on', thinkReward: 0.2, distractors: 2, turnCost: 0.05 }],
  [
    'multi-hop',
    { entities: 6, distractors: 2, failureRate: 0.3, latency: 0.5, maxTurns: 6, think: 'on', thinkReward: 0.2 },
  ],
  ['multi-hop', { retriever: 'question', oneHopShare: 1 }],
  ['multi-hop', { retriever: 'first', relations: 2, hops: 1, maxTurns: 3 }],
  ['frozen-lake', { size: 5, ends: 'corners', sight: 'name', slip: 0.1 }],
  ['sokoban', { size: 5, maxTurns: 9 }],
  ['calculator', { hops: 3, failureRate: 0.3, think: 'on', thinkReward: 0.2 }],
  ['countdown', { hops: 3, think: 'on', thinkReward: 0.2 }],
  ['document-search', { topPassages: 2, oneHopShare: 1, think: 'on', thinkReward: 0.2 }],
  ['world-facts', { names: 'own', entities: 8, hops: 2, maxTurns: 5 }],
  ['your-facts', { names: 'own', distractors: 1 }],
];

type Player = (episode: Episode, draw: Random) => readonly number[] | null;

const PLAYERS = (env: ToolEnv): Readonly<Record<string, Player>> => ({
  expert: (episode) => episode.expert(),
  rule: (episode) => episode.rule(),
  imperfect: (episode, draw) => episode.demonstrate(0.5, draw),
  anything: (_, draw) => {
    const word = () => Math.floor(draw.next() * env.vocabulary.length);
    return Array.from({ length: 3 + Math.floor(3 * draw.next()) }, word);
  },
});

/** How many words each state of a grammar lets through; in brackets where entering it ends the turn. */
function legal(env: ToolEnv, on: boolean): string {
  const { states, vocabulary, next, stop } = env.grammar(on);
  return Array.from({ length: states }, (_, state) => {
    const count = next.slice(state * vocabulary, (state + 1) * vocabulary).filter((to) => to >= 0).length;
    return stop[state] === 1 ? `(${count})` : `${count}`;
  }).join(' ');
}

/** Turns near the one given: a word left out, said twice, or another in its place; none; and the other kind of turn. */
function* near(action: readonly number[], env: ToolEnv, draw: Random): Generator<readonly number[]> {
  const id = (word: string) => env.vocabulary.indexOf(word);
  const kind = ['<call>', '<answer>'].find((tag) => action.includes(id(tag)))!;
  const from = action.indexOf(id(kind));
  const inside = action.slice(from + 1, -1);
  const [open, close] = [action.slice(0, from + 1), action.slice(-1)];
  const content = env.vocabulary.flatMap((word, at) => (word.startsWith('<') ? [] : [at]));
  yield [...open, ...close];
  for (let at = 0; at < inside.length; at++) {
    const other = content[Math.floor(draw.next() * content.length)]!;
    yield [...open, ...inside.slice(0, at), ...inside.slice(at + 1), ...close];
    yield [...open, ...inside.slice(0, at), inside[at]!, ...inside.slice(at), ...close];
    yield [...open, ...inside.slice(0, at), other, ...inside.slice(at + 1), ...close];
  }
  yield [...open, ...inside, content[0]!, ...close];
  const swapped = kind === '<call>' ? ['<answer>', '</answer>'] : ['<call>', '</call>'];
  yield [id(swapped[0]!), ...inside, id(swapped[1]!)];
}

/** An environment written down: what it says it is, how its tasks read, and how they are played, well and badly. */
export function transcript(name: RunConfig['env'], knobs: Readonly<Partial<Record<FieldName, unknown>>>): string {
  const { env, settings } = subject(name, knobs);
  const free = { ...settings, grammar: false };
  const { splits } = env;
  const resets: Record<string, Reset> = {
    train: env.reset,
    demonstration: env.demonstration,
    ...(splits.heldOut && { 'held out': splits.heldOut.reset }),
    ...(splits.entities && { entities: splits.entities.reset }),
    shifted: splits.shifted.reset,
    ...(env.naiveRag && { retrieved: env.naiveRag }),
  };
  const lines = [
    `== ${name} ${JSON.stringify(knobs)}: ${env.name}. ${env.description}`,
    `words: ${env.vocabulary.slice(10).join(' ')}`,
    ...env.tools.map((tool) => `tool ${tool.name}(${tool.parameters.join(', ')}): ${tool.description}`),
    `rule: ${env.ruleDoc ?? null}; tasks: ${env.taskCount ?? null}; tokens: ${env.maxTokens}, ${env.maxTurnTokens} a turn`,
    `legal words, state by state: ${legal(env, true)}; unmasked: ${legal(env, false)}`,
    ...[splits.heldOut, splits.entities, splits.shifted].map((split) => `split: ${split?.doc ?? 'none'}`),
  ];
  for (const [which, reset] of Object.entries(resets)) {
    for (const seed of which === 'train' ? [1, 0x80000002] : [2])
      lines.push(...played(`${which} ${seed}`, env, reset(seed, settings, seed + 5), settings, 'expert'));
  }
  for (const [seed, player] of Object.keys(PLAYERS(env)).entries())
    lines.push(...played(`train ${seed + 3}`, env, env.reset(seed + 3, free, 9 * seed), free, player));
  for (const player of env.ruleDoc === undefined ? ['imperfect'] : ['rule', 'imperfect']) {
    lines.push(`-- what ${player} does in train 20 … 31`);
    for (let seed = 20; seed < 32; seed++) {
      const said = played('', env, env.reset(seed, settings), settings, player, random(seed, Purpose.environment));
      lines.push(
        said
          .filter((line) => line.includes(' → '))
          .map((line) => line.replace(/ → .* \[/, ' ['))
          .join(' | '),
      );
    }
  }
  for (const turn of [1, 2]) {
    const prepared = () => {
      const episode = env.reset(8, free);
      return turn === 1 || episode.step(episode.expert(), free).stop === null ? episode : null;
    };
    const action = prepared()?.expert();
    if (!action) continue;
    lines.push(`-- train 8, near the expert’s turn ${turn}`);
    for (const odd of near(action, env, random(turn, Purpose.environment)))
      lines.push(taken(env, prepared()!, odd, free));
  }
  return `${lines.join('\n')}\n`;
}

const text = (env: ToolEnv, ids: readonly number[]) => ids.map((id) => env.vocabulary[id]).join(' ');

function taken(env: ToolEnv, episode: Episode, action: readonly number[], settings: EnvSettings): string {
  const result = episode.step(action, settings);
  const paid = Object.entries(result.parts).flatMap(([part, x]) =>
    x === 0 ? [] : [`${part} ${Number(x.toFixed(6))}`],
  );
  const facts = [
    ...paid,
    ...(result.valid ? [] : ['malformed']),
    ...(result.waited > 0 ? [`waited ${result.waited}`] : []),
    ...(result.stop === null ? [] : [`${result.stop}, ${result.success ? 'success' : 'failure'}`]),
  ];
  return `${text(env, action)} → ${text(env, result.observation)} [${facts.join('; ')}]`;
}

function played(
  title: string,
  env: ToolEnv,
  episode: Episode,
  settings: EnvSettings,
  player: string,
  draw = random(11, Purpose.environment),
): string[] {
  const lines = [`-- ${title}, ${player}: ${episode.question} | ${episode.key}`, text(env, episode.prompt)];
  for (let over = false; !over;) {
    const action = PLAYERS(env)[player]!(episode, draw);
    if (!action) return [];
    const line = taken(env, episode, action, settings);
    lines.push(line);
    over = /(success|failure)\]$/.test(line);
  }
  const names = [...episode.names].map(([id, name]) => `${env.vocabulary[id]} = ${name}`);
  if (names.length > 0) lines.push(`names: ${names.join(', ')}`);
  const scores = episode.scores();
  return [...lines, JSON.stringify(episode.view()), ...(scores ? [JSON.stringify(scores)] : [])];
}
