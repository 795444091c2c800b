import { createInterface } from 'node:readline';
import { readFlags } from '../../tools/flags.mjs';
import { parseDecimal } from '../base/decimal.ts';
import { type ChosenTask, type AskForm, type TalkSampling, type Voice, wordsOfLine } from '../domain/taskForm.ts';
import { readCheckpointFiles } from '../checkpoints/read.ts';
import { type Checkpoint, checkpointOf } from '../runs/checkpoint.ts';
import { ConfigError } from '../config/configProblem.ts';
import { openSession, type Session } from '../session/session.ts';
import type { Answer } from '../wire/questions.ts';
import { callerPath } from './files.ts';
import { readFolder } from './diskFolders.ts';
import { nodeHost } from './nodeHost.ts';
import { program } from './program.ts';
import { visible } from '../base/visible.ts';
import { Role } from '../domain/tokens.ts';

type PlayedAnswer = Extract<Answer, { kind: 'talk' }>;

/** The question, each turn with its observation, and the end. Invisible characters in names from files are made visible. */
function talkLines(answer: PlayedAnswer): readonly string[] {
  const { batch, episode, words } = readAnswer(answer);
  const turns = new Map<number, string[]>();
  for (const [t, word] of words.entries()) {
    const turn = batch.turns[t] ?? 0;
    const shownWord = batch.roles[t] === Role.action ? word : `\u001b[2m${word}\u001b[22m`;
    turns.set(turn, [...(turns.get(turn) ?? []), process.stdout.isTTY ? shownWord : word]);
  }
  const verdict = answer.judged
    ? `${episode.success ? 'solved' : 'not solved'}, reward ${Number(episode.reward.toPrecision(4))}`
    : 'nobody has told the environment what is right';
  return [
    visible(episode.question),
    ...Array.from(turns, ([turn, text]) => `${turn === 0 ? '  ' : `${turn} `} ${text.join(' ')}`),
    `   ${episode.stop}: ${verdict}`,
    '',
  ];
}

function talkRecord(answer: PlayedAnswer) {
  const { batch, episode, words } = readAnswer(answer);
  const { question, success, reward, stop, toolCalls, invalidTurns } = episode;
  return {
    question,
    tokens: words,
    sampled: words.map((_, t) => batch.roles[t] === Role.action),
    logprobs: words.map((_, t) => (batch.roles[t] === Role.action ? batch.sampledLogprobs[t] : null)),
    ...{ success: answer.judged ? success : null, reward: answer.judged ? reward : null },
    ...{ stop, toolCalls, invalidTurns },
  };
}

function readAnswer({ batch, vocabulary }: PlayedAnswer) {
  const [episode] = batch.episodes;
  if (!episode) throw new RangeError('talkLines: the batch has no episode. Pass one row.');
  const tokens = Array.from(batch.tokens.subarray(0, batch.lengths[0]));
  const words = tokens.map((id) => visible(episode.names.get(id) ?? vocabulary[id] ?? `#${id}`));
  return { batch, episode, words };
}

const USAGE = `npm run talk -- --checkpoint DIR|ZIP [--before] [--greedy] [--temperature T] [--json]
Each line that is typed (or comes in) is a task in the agent's words, #N the task of number N; a line with nothing in it asks the last one again.`;

const FLAGS = {
  checkpoint: 'value',
  before: 'switch',
  greedy: 'switch',
  temperature: 'value',
  json: 'switch',
} as const;

interface TalkSettings {
  readonly session: Session;
  readonly form: AskForm | null;
  readonly voice: Voice;
  readonly sampling: TalkSampling;
}

/** `npm run talk`: lets the agent of an exported folder play the tasks that a person types. Nothing is trained. */
async function main(args: readonly string[]): Promise<number> {
  const { checkpoint: folder, before, json, sampling } = readArguments(args);
  const opened = readCheckpointFiles(await readFolder(callerPath(folder)));
  if (opened.kind === 'foreign') {
    throw new ConfigError([
      {
        what: '--checkpoint can’t be another program’s model, because it belongs to no environment yet.',
        remedy: `Name a folder that this project exported. Train from it first: npm run train -- --preset NAME --from ${folder} --save DIR.`,
      },
    ]);
  }
  const { run } = opened;
  const session = await openSession(run.begun, await nodeHost(false), () => undefined, {
    facts: run.facts,
    resumedFrom: withCpuBackend(run.checkpoint),
  });
  try {
    const formAnswer = await session.answer({ kind: 'ask-form' });
    const form = formAnswer.kind === 'ask-form' ? formAnswer.form : null;
    if (!json)
      console.error(`${run.name}, ${before ? 'before training' : `after update ${run.update}`}.\n${hint(form)}`);
    return await answerLines({ session, form, voice: before ? 'begun' : 'now', sampling }, json);
  } finally {
    session.dispose();
  }
}

function readArguments(args: readonly string[]) {
  const { given, problems } = readFlags(args, FLAGS, { words: 0 });
  const { checkpoint = '', before = false, greedy = false, json = false } = given;
  if (checkpoint === '' && problems.length === 0)
    problems.push({ what: '--checkpoint is missing.', remedy: 'Name a folder or a zip.' });
  const temperature = parseDecimal(given.temperature ?? '1') ?? NaN;
  if (!(temperature > 0 && temperature <= 5))
    problems.push({
      what: `--temperature can’t be ${given.temperature ?? ''}.`,
      remedy: 'Use a number above 0, up to 5.',
    });
  if (problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  return { checkpoint, before, json, sampling: { temperature, topK: 0, topP: 1, greedy } };
}

/** The checkpoint with knobs for the CPU. Playing single tasks needs no GPU, whatever the run was trained on. */
function withCpuBackend(checkpoint: Checkpoint): Checkpoint {
  const cpu = { backend: 'cpu', storage: 'f32' } as const;
  return checkpointOf({
    ...checkpoint,
    begun: { ...checkpoint.begun, ...cpu },
    config: { ...checkpoint.config, ...cpu },
  });
}

function hint(form: AskForm | null): string {
  if (!form) return 'Type #N for the task of number N.';
  const blanks = form.blanks.map(({ label, optional }) => (optional ? `[${label}]` : label)).join(', ');
  const example = form.example.filter((word) => word !== '').join(', ');
  return `${form.doc}\nType ${blanks}, for example: ${example}. Or #N for the task of number N.`;
}

/** One task for each line of input. Returns exit code 1 if a line could not be played, unless the lines were typed. */
async function answerLines(talk: TalkSettings, json: boolean): Promise<number> {
  const isTyped = process.stdin.isTTY;
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt: '> ', terminal: isTyped });
  let refused = 0;
  let lastTask = null as ChosenTask | null;
  let drawNumber = 0;
  if (isTyped) lines.prompt();
  for await (const line of lines) {
    const task = taskOf(line, talk.form) ?? lastTask;
    if (task) {
      try {
        const answer = await playTask(talk, task, ++drawNumber);
        if (json) console.log(JSON.stringify(talkRecord(answer)));
        else process.stdout.write(`${talkLines(answer).join('\n')}\n`); // not the console, which escapes the dim letters
        lastTask = task;
      } catch (error) {
        refused++;
        console.error(error instanceof Error ? error.message : String(error));
      }
    }
    if (isTyped) lines.prompt();
  }
  return refused > 0 && !isTyped ? 1 : 0;
}

function taskOf(line: string, form: AskForm | null): ChosenTask | null {
  const text = line.trim();
  if (text === '') return null;
  const number = /^#\s*(\d+)$/.exec(text)?.[1];
  if (number !== undefined) return { seed: Number(number) };
  return { words: form ? wordsOfLine(form, text) : [text] };
}

async function playTask(
  { session, voice, sampling }: TalkSettings,
  task: ChosenTask,
  drawNumber: number,
): Promise<PlayedAnswer> {
  const environmentSeed = 'seed' in task ? task.seed : drawNumber;
  const answer = await session.answer({
    kind: 'talk',
    chosenTask: task,
    environmentSeed,
    agentPrefix: [],
    voice,
    sampling,
    drawIndex: drawNumber,
  });
  if (answer.kind !== 'talk') throw new Error(`The agent answered ${answer.kind} and not in words. Ask again.`);
  return answer;
}

await program('talk', USAGE, main);
