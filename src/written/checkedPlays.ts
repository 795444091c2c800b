import { Purpose, random } from '../base/rng.ts';
import type { Findings } from '../domain/checkFindings.ts';
import { type Parameter, type ToolFace, parameterName } from '../text/toolSchema.ts';
import { type ClassSettings, isSolved, weightedReward } from './classSettings.ts';
import {
  chancePlayer,
  type InterruptedExpert,
  isStopped,
  type Move,
  type Play,
  playTasks,
  type TaskId,
} from './plays.ts';
import type { Sandbox } from './script/sandbox.ts';

/** Share of the turns in which the interrupted expert makes another move. The warm start has the same share. */
const OTHER_MOVES = 0.4;

/**
 * Makes a player that follows the expert, except in some turns: then it makes a move of the expert in another task, as
 * the warm start does, or a random call.
 */
export function interruptedExpert(
  expertPlays: readonly Play[],
  tools: readonly ToolFace[],
  seed: number,
): InterruptedExpert {
  const moves = expertPlays.flatMap((play) => play.moves);
  const randomMove = chancePlayer(tools, seed);
  return {
    interrupt: (episode, id, expertMove) => {
      const draw = random(seed, Purpose.demonstration, id, episode.replies.length);
      if (draw.next() >= OTHER_MOVES) return expertMove;
      const other = draw.int(2) === 0 || moves.length === 0 ? randomMove(episode, id) : draw.pick(moves);
      return other ?? expertMove;
    },
  };
}

/** Adds the faults of an episode: one for each line of code, with the first message as an example. */
export function addProblems(findings: Findings, { problems, moves }: Play, remark: string): void {
  const last = moves.at(-1);
  const after = remark && last ? `${remark}, here after ${callText(last)}.` : '';
  for (const { text, line } of problems) {
    const [, what = text, example = ''] =
      /^(.*?(?: failed: | gives \S+ = | returned | wrong call: ))(.*)$/s.exec(text) ?? [];
    findings.add('fault', what, line, example + after);
  }
}

/** A call that was stopped because it took too long. */
export interface StoppedCall {
  readonly call: Move;
  readonly argument: string | null; // the argument whose value is enough to cause it; null if no single one is, or if no call of the tool returned
}

/** Limit on the arguments of a stopped call that are tried, because each try may take seconds. */
const MAX_TRIES = 4;

/**
 * One stopped call of each tool. To find the argument that causes it, calls the tool again in a new sandbox: each time
 * with one argument of the stopped call, and the others of a call that returned.
 */
export async function stoppedCalls(
  plays: readonly Play[],
  tools: readonly ToolFace[],
  open: () => Promise<Sandbox>,
  seed: number,
): Promise<readonly StoppedCall[]> {
  const found = new Map<string, StoppedCall>();
  for (const { problems, task } of plays) {
    for (const { text, call } of problems) {
      if (!call || !('tool' in call) || !isStopped(text) || found.has(call.tool)) continue;
      const names = Object.keys(call.values).slice(0, MAX_TRIES);
      const returned = callsOf(plays, call.tool).find(({ reply }) => reply.text !== undefined)?.move;
      const tries = names.length === 1 || !returned ? [] : names;
      let argument = returned && names.length === 1 ? (names[0] ?? null) : null;
      for (const name of tries) {
        const sandbox = await open();
        const move: Move = { tool: call.tool, values: { ...returned?.values, [name]: call.values[name] } };
        const [play] = playTasks(sandbox, tools, [task], { seed, maxTurns: 1, player: () => move });
        sandbox.dispose();
        if (!play?.problems.some((problem) => isStopped(problem.text))) continue;
        argument = name;
        break;
      }
      found.set(call.tool, { call, argument });
    }
  }
  return [...found.values()];
}

/** The calls of a tool that got a reply. */
function callsOf(plays: readonly Play[], tool: string) {
  return plays.flatMap(({ moves, replies }) =>
    moves.flatMap((move, at) => {
      const reply = replies[at];
      return 'tool' in move && move.tool === tool && reply ? [{ move, reply }] : [];
    }),
  );
}

/** A move as it is written in code: `guess("cat")`. */
export function callText(move: Move): string {
  if ('answer' in move) return JSON.stringify(move.answer);
  const values = Object.entries(move.values).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${move.tool}(${values.join(', ')})`;
}

/** Whether the mean reward of some episodes is higher than that of others by more than chance explains. */
export function isClearlyAbove(plays: readonly Play[], others: readonly Play[], settings: ClassSettings): boolean {
  const [high, low] = [momentsOf(plays, settings), momentsOf(others, settings)];
  return high.mean - low.mean > Math.max(MIN_DIFFERENCE, 3 * Math.sqrt(high.squaredError + low.squaredError));
}

const MIN_DIFFERENCE = 0.005;

function momentsOf(plays: readonly Play[], settings: ClassSettings) {
  const rewards = plays.map(({ parts }) => weightedReward(parts ?? {}, settings));
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const variance = rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / rewards.length;
  return { mean, squaredError: variance / rewards.length };
}

/** With an expert, a warning appears if at least this share of the tasks was solved by nobody. */
const MANY_UNSOLVED = 0.1;

/**
 * Warns if no player solved any task, or, with an expert, if nobody solved some of them. Without an expert, random
 * players are not expected to solve each task.
 */
export function unsolvedTasks(
  plays: readonly Play[],
  tasks: readonly TaskId[],
  hasExpert: boolean,
  settings: ClassSettings,
  terms: { readonly reward: string; readonly expert: string },
): readonly { readonly text: string }[] {
  const keyOf = ({ split, index }: TaskId) => `${split} task ${index}`;
  const solved = new Set(plays.filter(({ parts }) => isSolved(parts ?? {}, settings)).map(({ task }) => keyOf(task)));
  const unsolved = tasks.map(keyOf).filter((task) => !solved.has(task));
  const [first] = unsolved;
  if (first === undefined || (solved.size > 0 && (!hasExpert || unsolved.length < MANY_UNSOLVED * tasks.length)))
    return [];
  const [deciding] = [...Object.keys(settings.weights), ...plays.flatMap(({ parts }) => Object.keys(parts ?? {}))];
  const most = Math.max(...plays.map(({ parts }) => Number(parts?.[deciding ?? ''] ?? 0)));
  const rule = `A task counts as solved if ${terms.reward} gives ${deciding ?? 'a reward'} of at least 1; the most was ${most.toFixed(2)}.`;
  const advice = hasExpert ? `Check ${terms.expert} and the rules.` : `Check the rules, or write ${terms.expert}.`;
  return solved.size === 0
    ? [{ text: `No player solved any of the ${tasks.length} tasks. ${rule} ${advice}` }]
    : [{ text: `Nobody solved ${unsolved.length} of ${tasks.length} tasks, such as ${first}. ${rule} ${advice}` }];
}

/** A tool needs this many calls before the check says that none of them was legal. */
const MIN_CALLS = 8;

/**
 * Warns of a tool of which no player ever made a legal call: all were refused, or all had the same answer and the
 * choices of a text argument stand in the description only. Names the argument.
 */
export function uselessCalls(tools: readonly ToolFace[], plays: readonly Play[]): readonly string[] {
  return tools.flatMap((tool) => {
    const calls = callsOf(plays, tool.name);
    const [first] = calls;
    if (!first || calls.length < MIN_CALLS || tool.parameters.length === 0) return [];
    const answers = new Set(calls.map(({ reply }) => (reply.text ?? '').replace(/\d+/g, '#')));
    const isRefused = calls.every(({ reply }) => reply.refused !== undefined);
    const described = tool.parameters.flatMap((parameter) => {
      const choices = choicesInDescription(tool, parameter);
      const name = parameterName(parameter);
      const wasTried = calls.some(({ move }) => choices.includes(String(move.values[name])));
      return choices.length > 1 && !wasTried ? [{ name, choices }] : [];
    });
    if (!isRefused && (answers.size > 1 || described.length === 0)) return [];
    const answer = (first.reply.refused ?? first.reply.text ?? '').slice(0, 100);
    const begin = `No player made a legal call of ${tool.name}: all ${calls.length} calls were ${isRefused ? 'refused' : 'answered alike'}, such as ${callText(first.move).slice(0, 100)} with “${answer}”.`;
    const [argument] = described;
    if (argument)
      return [
        `${begin} The choices of ${argument.name} stand only in its description, where players can’t see them. Put them into its type: ${argument.choices.map((choice) => JSON.stringify(choice)).join(' | ')}.`,
      ];
    const names = tool.parameters.map(parameterName).join(', ');
    return [
      `${begin} Random calls take words that they read and numbers from 0 to 15 for ${names}. Give ${tool.parameters.length > 1 ? 'these arguments' : 'the argument'} choices, name legal values in the prompt, or write an expert.`,
    ];
  });
}

/** The quoted words in the description of a text argument that has no choices in its type; empty if there are none. */
function choicesInDescription(tool: ToolFace, parameter: Parameter): readonly string[] {
  if (typeof parameter === 'object' && (parameter.type !== 'string' || parameter.enum)) return [];
  const own = typeof parameter === 'object' ? (parameter.description ?? '') : '';
  const textParameters = tool.parameters.filter((each) => typeof each === 'string' || each.type === 'string');
  const texts = [own, ...(textParameters.length === 1 ? [tool.description] : [])];
  return texts.map(listedWords).find((words) => words.length > 1) ?? [];
}

/** The words of a text that lists choices: in quotes, or after “one of” or “either”. */
function listedWords(text: string): readonly string[] {
  const quoted = [...text.matchAll(/["'`“‘]([^\s"'`”’]{1,40})["'`”’]/gu)].map(([, word = '']) => word);
  if (quoted.length > 1) return [...new Set(quoted)];
  const list = /\b(?:one of|either|choose from)\b:?\s*([^.;()]+)/i.exec(text)?.[1] ?? '';
  const words = list.split(/\s*,\s*(?:or\s+)?|\s+or\s+|\s*[|/]\s*/).map((word) => word.trim());
  return words.length > 1 && words.every((word) => /^\S+$/.test(word)) ? words : [];
}
