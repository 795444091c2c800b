import type { Declaration } from './declaration.ts';
import { type Finding, Findings } from '../domain/checkFindings.ts';
import { TERMS } from './languageTerms.ts';
import { type ClassSettings, classSettings, weightedReward } from './classSettings.ts';
import { chancePlayer, EXPERT, type Move, nonsensePlayer, type Play, playTasks, type TaskOf } from './plays.ts';
import type { Sandbox } from './sandbox.ts';

/**
 * The result of the check. `chance`, `expert` and `nonsense` are the mean reward of each player; an episode's reward is
 * the weighted sum of its parts.
 */
export interface CheckReport {
  readonly settled: ClassSettings;
  readonly episodes: number;
  readonly turns: number;
  readonly chance: number;
  /** Null if the class has no `expert()`. */
  readonly expert: number | null;
  readonly nonsense: number;
  readonly longestPrompt: number; // characters
  readonly longestReply: number; // characters
  readonly findings: readonly Finding[];
  /** True if a fault ended an episode. The mean rewards then mean nothing, so they are not compared. */
  readonly broken: boolean;
}

/** The random player, the nonsense player, the expert, and the replay of the random player. */
const ALL_PLAYS = 4;

/**
 * Checks an environment by playing it. Three players play the same tasks: one calls random tools with words that
 * it has read, one is the environment's own expert, one sends nonsense. Then the random player's moves are replayed in a new sandbox, with the tasks
 * in reverse order, to see that the same moves give the same episodes. The report lists what is wrong. Each call of `open`
 * opens a new sandbox with the environment. `episodes` is the number of tasks; training and test tasks alternate.
 */
export async function checkEnvironment(
  declaration: Declaration,
  open: () => Promise<Sandbox>,
  {
    episodes,
    seed,
    onProgress,
  }: { readonly episodes: number; readonly seed: number; readonly onProgress?: (share: number) => void },
): Promise<CheckReport> {
  const { tools, language } = declaration;
  const terms = TERMS[language];
  const sandbox = await open();
  const rules = classSettings(sandbox.statics);
  const tasks = tasksOf(rules, episodes);
  let plays = 0;
  const options = () => {
    const before = plays++;
    return {
      seed,
      maxTurns: rules.maxTurns,
      onProgress: onProgress && ((share: number) => onProgress((before + share) / ALL_PLAYS)),
    };
  };
  const found = new Findings();
  for (const { what, line } of declaration.mistakes) found.add('warning', what, line);
  const chance = playTasks(sandbox, tools, tasks, { ...options(), observe: true, player: chancePlayer(tools, seed) });
  const nonsense = playTasks(sandbox, tools, tasks, { ...options(), player: nonsensePlayer(tools, seed) });
  const byPlan = playTasks(sandbox, tools, tasks, { ...options(), player: EXPERT });
  const experts = byPlan.some(({ moves, problems }) => moves.length > 0 || problems.length > 0) ? byPlan : null;
  sandbox.dispose();

  for (const play of [...chance, ...nonsense, ...(experts ?? [])]) {
    for (const { text, line } of play.problems) found.add('fault', text, line);
    for (const { refused, bug, line } of play.replies) {
      if (bug && refused)
        found.add('warning', `A tool threw an error that looks like a mistake in your code: ${refused}`, line ?? null);
    }
    for (const { cut } of play.replies)
      if (cut !== undefined)
        found.add('warning', `A tool’s answer of ${cut} characters was cut. Return a shorter one.`, null);
    for (const name of Object.keys(play.parts ?? {})) {
      if (Object.keys(rules.weights).length > 0 && !Object.hasOwn(rules.weights, name))
        found.add('warning', `${terms.weights} has no entry for the reward part ${name}, so its weight is 1.`, null);
    }
  }
  const again = await open();
  const reversed = chance.toReversed();
  const replayed = playTasks(
    again,
    tools,
    reversed.map(({ task }) => task),
    {
      ...options(),
      observe: true,
      player: ({ replies }, episode) => reversed[episode]?.moves[replies.length] ?? null,
    },
  );
  again.dispose();
  for (const [at, play] of replayed.entries()) {
    const first = reversed[at];
    if (first && transcript(first) !== transcript(play)) {
      found.add(
        'fault',
        `The same calls gave a different episode the second time (${first.task.split} task ${first.task.index}): ${difference(first, play)}. Keep all state of an episode in \`${terms.self}\`, and set all of it in reset().`,
        null,
      );
    }
  }
  const value = (plays: readonly Play[]) =>
    plays.reduce((sum, { parts }) => sum + weightedReward(parts ?? {}, rules), 0) / plays.length;
  const [byChance, byNonsense, byExpert] = [value(chance), value(nonsense), experts && value(experts)];
  const broken = [...chance, ...nonsense, ...(experts ?? [])].some(({ problems }) => problems.length > 0);
  if (byExpert === null)
    found.add(
      'warning',
      `The class has no ${terms.expert}. Training starts by imitating random calls, and there is no score to compare with.`,
      null,
    );
  else if (!broken && byExpert <= byChance)
    found.add(
      'fault',
      `The expert earns ${byExpert.toFixed(2)} and random calls earn ${byChance.toFixed(2)}. If nothing beats chance, something is wrong with ${terms.expert} or ${terms.reward}.`,
      null,
    );
  if (!broken && byExpert !== null && byNonsense >= byExpert)
    found.add(
      'fault',
      `Nonsense calls earn ${byNonsense.toFixed(2)}, no less than the expert (${byExpert.toFixed(2)}). Check ${terms.reward}.`,
      null,
    );
  if (experts && !broken) {
    const count = givenAway(experts);
    if (count > experts.length / 2) {
      found.add(
        'warning',
        `In ${count} of ${experts.length} tasks the prompt contains what the expert says in its last turn, and most other prompts don’t. Does the prompt contain the answer?`,
        null,
      );
    }
    const unseen = callsFromUnseen(experts);
    if (unseen > experts.length / 4) {
      found.add(
        'warning',
        `After the same texts the expert makes different calls (in ${unseen} of ${experts.length} tasks). So it knows something that the agent can’t read, and imitating it can only guess. Have ${terms.expert} use only the prompt and the tools’ answers.`,
        null,
      );
    }
    const trained = new Set(experts.filter(({ task }) => task.split === 'train').map(keyOf));
    const tests = experts.filter(({ task }) => task.split === 'test');
    const shared = tests.filter((play) => trained.has(keyOf(play))).length;
    // in a large set a few tasks are equal by chance
    if (shared > tests.length / 20)
      found.add(
        'warning',
        `${shared} of ${tests.length} test tasks also occur in training, so evaluation can’t tell what was learned from what was memorized. Have reset() draw from more tasks; if there are only few, this can stay.`,
        null,
      );
  }
  const all = [...chance, ...nonsense, ...(experts ?? [])];
  if (!broken)
    for (const name of unpaidParts(all)) {
      found.add(
        'warning',
        `The reward part ${name} was 0 in every episode of every player. Check how ${terms.reward} computes it.`,
        null,
      );
    }
  const longest = (texts: readonly string[]) => texts.reduce((most, text) => Math.max(most, text.length), 0);
  return {
    settled: rules,
    episodes: all.length,
    turns: all.reduce((sum, { moves }) => sum + moves.length, 0),
    chance: byChance,
    expert: byExpert,
    nonsense: byNonsense,
    longestPrompt: longest(all.map(({ prompt }) => prompt)),
    longestReply: longest(all.flatMap(({ replies }) => replies.map(({ text, refused }) => text ?? refused ?? ''))),
    findings: found.list(),
    broken,
  };
}

/** The tasks to play. Training and test tasks alternate; when one kind runs out, the rest are of the other kind. */
function tasksOf({ tasks }: ClassSettings, episodes: number): readonly TaskOf[] {
  const list: TaskOf[] = [];
  for (let index = 0; list.length < episodes && index < Math.max(tasks.train, tasks.test); index++) {
    for (const split of ['train', 'test'] as const)
      if (index < tasks[split] && list.length < episodes) list.push({ split, index });
  }
  return list;
}

const replyText = ({ text, refused, over, paid, state }: Play['replies'][number]) =>
  JSON.stringify([text ?? null, refused ?? null, over ?? false, paid ?? null, state ?? null]);
const transcript = ({ prompt, replies, parts, observed, problems }: Play) =>
  JSON.stringify([prompt, replies.map(replyText), parts, observed, problems.map(({ text }) => text)]);

function difference(first: Play, second: Play): string {
  if (first.prompt !== second.prompt)
    return `it began with “${first.prompt.slice(0, 60)}”, then with “${second.prompt.slice(0, 60)}”`;
  const turn = first.replies.findIndex((reply, at) => replyText(reply) !== replyText(second.replies[at] ?? {}));
  if (turn >= 0) {
    const [one, other] = [first.replies[turn], second.replies[turn]];
    const state = one?.state !== other?.state && one?.text === other?.text;
    return state ? `stateKey() differed after turn ${turn + 1}` : `turn ${turn + 1} got a different answer`;
  }
  return first.observed !== second.observed ? 'observe() differed' : 'the reward differed';
}

const lastWords = (move: Move | undefined) =>
  move === undefined
    ? []
    : 'answer' in move
      ? [move.answer]
      : Object.values(move.values).filter((value) => typeof value === 'string');
const keyOf = ({ prompt, moves, replies }: Play) => JSON.stringify([prompt, moves, replies.map(replyText)]);

/** The names of the parts of the reward that were 0 in all episodes. */
function unpaidParts(plays: readonly Play[]): readonly string[] {
  const names = new Set(plays.flatMap(({ parts }) => Object.keys(parts ?? {})));
  return [...names].filter((name) => plays.every(({ parts }) => Number(parts?.[name] ?? 0) === 0));
}

/**
 * How many tasks have a call of the expert that differs from its usual one after the same texts. The texts of an episode are
 * all that an agent reads, so no agent can tell when to make such a call.
 */
function callsFromUnseen(experts: readonly Play[]): number {
  const turns = experts.map(({ prompt, moves, replies }) => {
    let read = JSON.stringify(prompt);
    return moves.map((move, turn) => {
      const before = read;
      const call = JSON.stringify(move);
      read += call + JSON.stringify([replies[turn]?.text, replies[turn]?.refused]);
      return { before, call };
    });
  });
  const counts = new Map<string, Map<string, number>>();
  for (const { before, call } of turns.flat()) {
    const calls = counts.get(before) ?? new Map<string, number>();
    counts.set(before, calls.set(call, (calls.get(call) ?? 0) + 1));
  }
  const unusual = ({ before, call }: { readonly before: string; readonly call: string }) => {
    const calls = counts.get(before);
    return calls !== undefined && (calls.get(call) ?? 0) < Math.max(...calls.values());
  };
  return turns.filter((episode) => episode.some(unusual)).length;
}

/**
 * How many tasks have the expert's last words in their prompt. Words in more than a fifth of all prompts do not count:
 * they are probably a list to choose from, not the answer.
 */
function givenAway(experts: readonly Play[]): number {
  const prompts = experts.map(({ prompt }) => prompt.toLowerCase());
  const often = (word: string) => prompts.filter((prompt) => prompt.includes(word)).length > prompts.length / 5;
  const known = new Map<string, boolean>();
  return experts.filter(({ moves }, at) =>
    lastWords(moves.at(-1))
      .map((word) => word.toLowerCase())
      .filter((word) => word.length > 2 && prompts[at]?.includes(word))
      .some((word) => {
        if (!known.has(word)) known.set(word, often(word));
        return !known.get(word);
      }),
  ).length;
}
