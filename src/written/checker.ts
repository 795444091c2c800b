import type { Declaration } from './script/declaration.ts';
import { type Finding, Findings } from '../domain/checkFindings.ts';
import {
  addProblems,
  callText,
  interruptedExpert,
  isClearlyAbove,
  stoppedCalls,
  unsolvedTasks,
  uselessCalls,
} from './checkedPlays.ts';
import { TERMS } from './languageTerms.ts';
import { type ClassSettings, classSettings, rewardProblem, weightedReward } from './classSettings.ts';
import {
  chancePlayer,
  callProblem,
  EXPERT,
  type Move,
  nonsensePlayer,
  type Play,
  playTasks,
  type TaskId,
} from './plays.ts';
import type { Sandbox } from './script/sandbox.ts';

/**
 * The result of the check. `chance`, `expert` and `nonsense` are the mean reward of each player; an episode's reward
 * is the weighted sum of its parts.
 */
export interface CheckReport {
  readonly settings: ClassSettings;
  readonly episodes: number;
  readonly turns: number;
  readonly tasks: number; // number of tasks played
  readonly differentTasks: number; // of them: with a different prompt, expert's moves or answers to these
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

/**
 * How often the tasks are played: by the random player, the nonsense player, the expert and the interrupted expert, and
 * in the replay of the random player.
 */
const PLAYTHROUGHS = 5;
/** The number of calls that may take too long before the check ends. Each takes seconds. */
const MAX_STOPPED_CALLS = 2;

/**
 * Checks an environment by playing it. Four players play the same tasks: one calls random tools with words that it has
 * read, one is the environment's own expert, one sends nonsense, and one is the expert with other players' calls in
 * between, because training asks it after such calls. Then the random player's moves are replayed in a new
 * sandbox, with the tasks in reverse order, to see that the same moves give the same episodes. The report lists what is
 * wrong. Each call of `open` opens a new sandbox with the environment. `episodes` is the number of tasks; training and
 * test tasks alternate.
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
  const settings = classSettings(sandbox.statics);
  const tasks = tasksOf(settings, episodes);
  const stops = { left: MAX_STOPPED_CALLS };
  let playthrough = 0;
  const options = () => {
    const finishedPlaythroughs = playthrough++;
    return {
      seed,
      maxTurns: settings.maxTurns,
      stops,
      onProgress: onProgress && ((share: number) => onProgress((finishedPlaythroughs + share) / PLAYTHROUGHS)),
    };
  };
  const findings = new Findings();
  for (const { what, line } of declaration.mistakes) findings.add('warning', what, line);
  const chancePlays = playTasks(sandbox, tools, tasks, {
    ...options(),
    observe: true,
    player: chancePlayer(tools, seed),
  });
  const nonsensePlays = playTasks(sandbox, tools, tasks, { ...options(), player: nonsensePlayer(tools, seed) });
  const expertResults = playTasks(sandbox, tools, tasks, { ...options(), player: EXPERT });
  const expertEpisodes = expertResults.some(({ moves, problems }) => moves.length > 0 || problems.length > 0)
    ? expertResults
    : null;
  const wrongCalls = (expertEpisodes ?? []).flatMap(({ moves }) =>
    moves.flatMap((move) => ('tool' in move ? (callProblem(tools, move.tool, move.values) ?? []) : [])),
  );
  const expertIsSound = wrongCalls.length === 0 && expertResults.every(({ problems }) => problems.length === 0);
  const interruptedPlays =
    expertEpisodes && expertIsSound
      ? playTasks(sandbox, tools, tasks, { ...options(), player: interruptedExpert(expertEpisodes, tools, seed) })
      : [];
  if (interruptedPlays.length === 0) playthrough++;
  sandbox.dispose();
  const playedAll = [...chancePlays, ...nonsensePlays, ...(expertEpisodes ?? [])];

  for (const play of playedAll) addProblems(findings, play, '');
  const knownProblems = new Set(playedAll.flatMap(({ problems }) => problems.map(({ text }) => text)));
  for (const play of interruptedPlays)
    if (play.problems.every(({ text }) => !knownProblems.has(text)))
      addProblems(findings, play, `. ${terms.expert} is asked after other players’ calls, as in training`);
  for (const { call, argument } of await stoppedCalls([...playedAll, ...interruptedPlays], tools, open, seed))
    if (argument !== null)
      findings.add(
        'fault',
        `The argument ${argument} makes a tool compute too long. Check its value in the tool, and raise an error if it is too large: `,
        null,
        callText(call),
      );
  for (const play of playedAll) {
    const tooLarge = rewardProblem(play.parts ?? {}, settings);
    if (tooLarge !== null) findings.add('fault', tooLarge, null);
    for (const { refused, bug, line } of play.replies) {
      if (bug && refused)
        findings.add(
          'warning',
          'A tool threw an error that looks like a mistake in your code, for example: ',
          line ?? null,
          refused,
        );
    }
    for (const { cut } of play.replies)
      if (cut !== undefined)
        findings.add('warning', `A tool’s answer of ${cut} characters was cut. Return a shorter one.`, null);
    for (const name of Object.keys(play.parts ?? {})) {
      if (Object.keys(settings.weights).length > 0 && !Object.hasOwn(settings.weights, name))
        findings.add('warning', `${terms.weights} has no entry for the reward part ${name}, so its weight is 1.`, null);
    }
  }
  for (const problem of wrongCalls)
    findings.add('fault', `${terms.expert} makes a wrong call: ${problem}. Training can’t imitate it.`, null);
  const replaySandbox = await open();
  const originals = stops.left > 0 ? chancePlays.toReversed() : [];
  const replayed = playTasks(
    replaySandbox,
    tools,
    originals.map(({ task }) => task),
    {
      ...options(),
      observe: true,
      player: ({ replies }, episode) => originals[episode]?.moves[replies.length] ?? null,
    },
  );
  replaySandbox.dispose();
  for (const [at, play] of replayed.entries()) {
    const original = originals[at];
    if (original && transcript(original) !== transcript(play)) {
      findings.add(
        'fault',
        `The same calls gave a different episode the second time (${original.task.split} task ${original.task.index}): ${difference(original, play)}. Keep all state of an episode in \`${terms.self}\`, and set all of it in reset().`,
        null,
      );
    }
  }
  const meanReward = (plays: readonly Play[]) =>
    plays.reduce((sum, { parts }) => sum + weightedReward(parts ?? {}, settings), 0) / plays.length;
  const [chanceReward, nonsenseReward, expertReward] = [
    meanReward(chancePlays),
    meanReward(nonsensePlays),
    expertEpisodes && meanReward(expertEpisodes),
  ];
  const broken = [...playedAll, ...interruptedPlays].some(({ problems }) => problems.length > 0);
  if (expertReward === null && stops.left > 0)
    findings.add(
      'warning',
      `The class has no ${terms.expert}. Training starts by imitating random calls, and there is no score to compare with.`,
      null,
    );
  else if (!broken && expertReward !== null && expertReward <= chanceReward)
    findings.add(
      'fault',
      `The expert earns ${expertReward.toFixed(2)} and random calls earn ${chanceReward.toFixed(2)}. If nothing beats chance, something is wrong with ${terms.expert} or ${terms.reward}.`,
      null,
    );
  if (!broken && expertReward !== null && nonsenseReward >= expertReward)
    findings.add(
      'fault',
      `Nonsense calls earn ${nonsenseReward.toFixed(2)}, no less than the expert (${expertReward.toFixed(2)}). Check ${terms.reward}.`,
      null,
    );
  if (!broken && expertReward === null && isClearlyAbove(nonsensePlays, chancePlays, settings))
    findings.add(
      'warning',
      `Nonsense calls earn the most: ${nonsenseReward.toFixed(2)}, and random calls ${chanceReward.toFixed(2)}. Training would learn nonsense. Check ${terms.reward}.`,
      null,
    );
  if (!broken) {
    const allPlayers = [...playedAll, ...interruptedPlays];
    for (const { text } of unsolvedTasks(allPlayers, tasks, expertEpisodes !== null, settings, terms))
      findings.add('warning', text, null);
    for (const text of uselessCalls(tools, allPlayers)) findings.add('warning', text, null);
  }
  if (expertEpisodes && !broken) {
    const promptsWithAnswerCount = promptsWithAnswer(expertEpisodes);
    if (promptsWithAnswerCount > expertEpisodes.length / 2) {
      findings.add(
        'warning',
        `In ${promptsWithAnswerCount} of ${expertEpisodes.length} tasks the prompt contains what the expert says in its last turn, and most other prompts don’t. Does the prompt contain the answer?`,
        null,
      );
    }
    const unpredictable = unpredictableCalls(expertEpisodes);
    if (unpredictable > expertEpisodes.length / 4) {
      findings.add(
        'warning',
        `After the same texts the expert makes different calls (in ${unpredictable} of ${expertEpisodes.length} tasks). So it knows something that the agent can’t read, and imitating it can only guess. Have ${terms.expert} use only the prompt and the tools’ answers.`,
        null,
      );
    }
    const training = expertEpisodes.filter(({ task }) => task.split === 'train');
    const trainingKeys = new Set(training.map(keyOf));
    const tests = expertEpisodes.filter(({ task }) => task.split === 'test');
    const sharedTasks = tests.filter((play) => trainingKeys.has(keyOf(play))).length;
    // in a large set a few tasks are equal by chance
    if (sharedTasks > tests.length / 20)
      findings.add(
        'warning',
        `${sharedTasks} of ${tests.length} test tasks also occur in training: prompt, expert’s calls and answers are the same as in one of the ${training.length} training tasks played. So evaluation can’t tell what was learned from what was memorized. Have reset() draw from more tasks; if there are only few, this can stay. If the tasks differ in something that the expert doesn’t read, return it from ${terms.stateKey}.`,
        null,
      );
  }
  const allPlays = playedAll;
  if (!broken)
    for (const name of zeroParts(allPlays)) {
      findings.add(
        'warning',
        `The reward part ${name} was 0 in every episode of every player. Check how ${terms.reward} computes it.`,
        null,
      );
    }
  const maxLength = (texts: readonly string[]) => texts.reduce((most, text) => Math.max(most, text.length), 0);
  return {
    settings,
    episodes: allPlays.length,
    tasks: tasks.length,
    differentTasks: new Set((expertEpisodes ?? chancePlays).map(expertEpisodes ? keyOf : ({ prompt }) => prompt)).size,
    turns: allPlays.reduce((sum, { moves }) => sum + moves.length, 0),
    chance: chanceReward,
    expert: expertReward,
    nonsense: nonsenseReward,
    longestPrompt: maxLength(allPlays.map(({ prompt }) => prompt)),
    longestReply: maxLength(
      allPlays.flatMap(({ replies }) => replies.map(({ text, refused }) => text ?? refused ?? '')),
    ),
    findings: findings.list(),
    broken,
  };
}

/** The tasks to play. Training and test tasks alternate; when one kind runs out, the rest are of the other kind. */
function tasksOf({ tasks }: ClassSettings, episodes: number): readonly TaskId[] {
  const list: TaskId[] = [];
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

function difference(original: Play, replay: Play): string {
  if (original.prompt !== replay.prompt)
    return `it began with “${original.prompt.slice(0, 60)}”, then with “${replay.prompt.slice(0, 60)}”`;
  const turn = original.replies.findIndex((reply, at) => replyText(reply) !== replyText(replay.replies[at] ?? {}));
  if (turn >= 0) {
    const [one, other] = [original.replies[turn], replay.replies[turn]];
    const state = one?.state !== other?.state && one?.text === other?.text;
    return state ? `stateKey() differed after turn ${turn + 1}` : `turn ${turn + 1} got a different answer`;
  }
  return original.observed !== replay.observed ? 'observe() differed' : 'the reward differed';
}

const finalTexts = (move: Move | undefined) =>
  move === undefined
    ? []
    : 'answer' in move
      ? [move.answer]
      : Object.values(move.values).filter((value) => typeof value === 'string');
const keyOf = ({ prompt, moves, replies }: Play) => JSON.stringify([prompt, moves, replies.map(replyText)]);

/** The names of the parts of the reward that were 0 in all episodes. */
function zeroParts(plays: readonly Play[]): readonly string[] {
  const names = new Set(plays.flatMap(({ parts }) => Object.keys(parts ?? {})));
  return [...names].filter((name) => plays.every(({ parts }) => Number(parts?.[name] ?? 0) === 0));
}

/**
 * The number of tasks in which the expert once makes another call than it usually makes after the same texts. An agent
 * reads only these texts, so no agent can tell when to make such a call.
 */
function unpredictableCalls(experts: readonly Play[]): number {
  const turns = experts.map(({ prompt, moves, replies }) => {
    let textsRead = JSON.stringify(prompt);
    return moves.map((move, turn) => {
      const before = textsRead;
      const call = JSON.stringify(move);
      textsRead += call + JSON.stringify([replies[turn]?.text, replies[turn]?.refused]);
      return { before, call };
    });
  });
  const counts = new Map<string, Map<string, number>>();
  for (const { before, call } of turns.flat()) {
    const calls = counts.get(before) ?? new Map<string, number>();
    counts.set(before, calls.set(call, (calls.get(call) ?? 0) + 1));
  }
  const isUnusual = ({ before, call }: { readonly before: string; readonly call: string }) => {
    const calls = counts.get(before);
    return calls !== undefined && (calls.get(call) ?? 0) < Math.max(...calls.values());
  };
  return turns.filter((episode) => episode.some(isUnusual)).length;
}

/**
 * The number of tasks whose prompt contains what the expert says in its last turn. Words in more than a fifth of all
 * prompts do not count, because they are probably a list to choose from, not the answer.
 */
function promptsWithAnswer(experts: readonly Play[]): number {
  const prompts = experts.map(({ prompt }) => prompt.toLowerCase());
  const isCommon = (word: string) => prompts.filter((prompt) => prompt.includes(word)).length > prompts.length / 5;
  const commonWords = new Map<string, boolean>();
  return experts.filter(({ moves }, at) =>
    finalTexts(moves.at(-1))
      .map((word) => word.toLowerCase())
      .filter((word) => word.length > 2 && prompts[at]?.includes(word))
      .some((word) => {
        if (!commonWords.has(word)) commonWords.set(word, isCommon(word));
        return !commonWords.get(word);
      }),
  ).length;
}
