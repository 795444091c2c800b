import { createInterface } from 'node:readline';
import { readFlags } from '../../tools/flags.mjs';
import { decimal } from '../base/decimal.ts';
import { type AskedTask, type AskForm, type TalkSampling, type Voice, wordsOfLine } from '../domain/taskForm.ts';
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

type TalkAnswer = Extract<Answer, { kind: 'talk' }>;

/**
 * What the agent and its tools said, a line a turn, with the verdict last. Names from outside show as text and nothing
 * else.
 */
function talkLines(said: TalkAnswer): readonly string[] {
  const { batch, episode, words } = read(said);
  const turns = new Map<number, string[]>();
  for (const [t, word] of words.entries()) {
    const turn = batch.turns[t] ?? 0;
    const dimmed = batch.roles[t] === Role.action ? word : `\u001b[2m${word}\u001b[22m`;
    turns.set(turn, [...(turns.get(turn) ?? []), process.stdout.isTTY ? dimmed : word]);
  }
  const verdict = said.judged
    ? `${episode.success ? 'solved' : 'not solved'}, reward ${Number(episode.reward.toPrecision(4))}`
    : 'nobody has told the environment what is right';
  return [
    visible(episode.question),
    ...Array.from(turns, ([turn, text]) => `${turn === 0 ? '  ' : `${turn} `} ${text.join(' ')}`),
    `   ${episode.stop}: ${verdict}`,
    '',
  ];
}

/** An answer as plain data, for JSON. */
function talkRecord(said: TalkAnswer) {
  const { batch, episode, words } = read(said);
  const { question, success, reward, stop, toolCalls, invalidTurns } = episode;
  return {
    question,
    tokens: words,
    sampled: words.map((_, t) => batch.roles[t] === Role.action),
    logprobs: words.map((_, t) => (batch.roles[t] === Role.action ? batch.sampledLogprobs[t] : null)),
    ...{ success: said.judged ? success : null, reward: said.judged ? reward : null },
    ...{ stop, toolCalls, invalidTurns },
  };
}

function read({ said: batch, vocabulary }: TalkAnswer) {
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

/** How the talk goes on, line after line. */
interface Talk {
  readonly session: Session;
  readonly form: AskForm | null;
  readonly voice: Voice;
  readonly sampling: TalkSampling;
}

/** `npm run talk`: asks the agent of an exported folder. Nothing is trained. */
async function main(args: readonly string[]): Promise<number> {
  const { checkpoint: folder, before, json, sampling } = readArguments(args);
  const read = readCheckpointFiles(await readFolder(callerPath(folder)));
  if (read.kind === 'foreign') {
    throw new ConfigError([
      {
        what: '--checkpoint can’t be another program’s model, because it belongs to no environment yet.',
        remedy: `Name a folder that this project exported. Train from it first: npm run train -- --preset NAME --from ${folder} --save DIR.`,
      },
    ]);
  }
  const { run } = read;
  const session = await openSession(
    run.begun,
    await nodeHost(false),
    () => undefined,
    run.facts,
    onCpu(run.checkpoint),
  );
  try {
    const asked = await session.answer({ kind: 'ask-form' });
    const form = asked.kind === 'ask-form' ? asked.form : null;
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
  const temperature = decimal(given.temperature ?? '1') ?? NaN;
  if (!(temperature > 0 && temperature <= 5))
    problems.push({
      what: `--temperature can’t be ${given.temperature ?? ''}.`,
      remedy: 'Use a number above 0, up to 5.',
    });
  if (problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  return { checkpoint, before, json, sampling: { temperature, topK: 0, topP: 1, greedy } };
}

/** A run to talk to needs no GPU: it is read on the CPU whatever it was trained on. */
function onCpu(checkpoint: Checkpoint): Checkpoint {
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

/** Plays a task a line until there are no more; 1 where one of them could not be asked. */
async function answerLines(talk: Talk, json: boolean): Promise<number> {
  const typed = process.stdin.isTTY;
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt: '> ', terminal: typed });
  let refused = 0;
  let last = null as AskedTask | null;
  let take = 0;
  if (typed) lines.prompt();
  for await (const line of lines) {
    const asked = taskOf(line, talk.form) ?? last;
    if (asked) {
      try {
        const said = await speak(talk, asked, ++take);
        console.log(json ? JSON.stringify(talkRecord(said)) : talkLines(said).join('\n'));
        last = asked;
      } catch (error) {
        refused++;
        console.error(error instanceof Error ? error.message : String(error));
      }
    }
    if (typed) lines.prompt();
  }
  return refused > 0 && !typed ? 1 : 0;
}

function taskOf(line: string, form: AskForm | null): AskedTask | null {
  const text = line.trim();
  if (text === '') return null;
  const number = /^#\s*(\d+)$/.exec(text)?.[1];
  if (number !== undefined) return { seed: Number(number) };
  return { words: form ? wordsOfLine(form, text) : [text] };
}

async function speak({ session, voice, sampling }: Talk, asked: AskedTask, take: number): Promise<TalkAnswer> {
  const environmentSeed = 'seed' in asked ? asked.seed : take;
  const answer = await session.answer({ kind: 'talk', asked, environmentSeed, script: [], voice, sampling, take });
  if (answer.kind !== 'talk') throw new Error(`The agent answered ${answer.kind} and not in words. Ask again.`);
  return answer;
}

await program('talk', USAGE, main);
