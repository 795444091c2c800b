// With a folder: copies itself there. With an address and a file of episodes: plays them over a socket, on the server that test_openenv.py started.
import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { NODE_SOCKETS } from '../../../src/cli/nodeSockets.ts';
import { type Reset, NO_REWARD_SETTINGS } from '../../../src/envs/env.ts';
import { answerAll, releaseAll, openAll, type Stepper } from '../../../src/envs/stepper.ts';
import { openServer } from '../../../src/openenv/openServer.ts';
import { openChatTokenizer, stopIds } from '../../../src/text/chatTokenizer.ts';
import { hermesFormat } from '../../../src/text/hermes.ts';
import type { WrittenTurn } from '../../../src/text/turnFormat.ts';
import type { Move } from '../../../src/written/plays.ts';

interface Played {
  readonly task: { readonly split: 'train' | 'test'; readonly index: number };
  readonly by: string;
  readonly prompt: string;
  readonly moves: readonly Move[];
  readonly replies: readonly { readonly text?: string; readonly refused?: string; readonly over?: boolean }[];
  readonly reward: number;
}

const WANTED = 100;
const TOGETHER = 20;
const SETTINGS = { ...NO_REWARD_SETTINGS, outcomeReward: 1 };
/** As JSON in UTF-8 brings a text. */
const whole = (text: string) => new TextDecoder().decode(new TextEncoder().encode(text));
const say = (line: object) => console.log(JSON.stringify(line));

async function play(address: string, file: string): Promise<void> {
  const agent = (name: string) => readFileSync(path.join('public/models/agent', name), 'utf8');
  const chatTokenizer = openChatTokenizer({
    tokenizer: agent('tokenizer.json'),
    template: agent('chat_template.jinja'),
    stops: stopIds(agent('generation_config.json')),
  });
  const env = await openServer(address, NODE_SOCKETS).environment({ chatTokenizer, think: false });
  const { codec, template } = chatTokenizer;
  const format = hermesFormat({ codec, template, tools: env.tools });
  const turnOf = (move: Move): WrittenTurn => ('answer' in move ? move : { tool: move.tool, values: move.values });
  const idsOf = (move: Move) => format.turnIds(turnOf(move));
  const begins: Readonly<Record<string, Reset | undefined>> = { train: env.reset, test: env.splits.heldOut?.reset };
  const tables = (split: string) => ({ env, settings: SETTINGS, ...(begins[split] && { begin: begins[split] }) });

  const listed = readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Played); // prettier-ignore
  const suited = listed.filter(({ by, moves, replies }) => {
    const last = moves.at(-1);
    if ((by !== 'chance' && by !== 'expert') || !last || moves.length > 6) return false;
    return (
      ('answer' in last || replies.at(-1)?.over === true) &&
      moves.every((move) => idsOf(move).length <= env.maxTurnTokens)
    );
  });
  const half = (split: string) => suited.filter(({ task }) => task.split === split);
  const [train, test] = [half('train'), half('test')];
  const played = [...train.slice(0, WANTED - Math.min(test.length, TOGETHER)), ...test.slice(0, TOGETHER)];
  let turns = 0;
  for (const split of ['train', 'test']) {
    const own = played.filter(({ task }) => task.split === split);
    for (let at = 0; at < own.length; at += TOGETHER) {
      const batch = own.slice(at, at + TOGETHER);
      const steppers = await openAll(tables(split), batch.map(({ task }) => ({ seed: task.index, environmentSeed: 0 }))); // prettier-ignore
      for (let turn = 0; steppers.some(({ stop }) => stop === null); turn++) {
        for (const [i, stepper] of steppers.entries()) {
          const move = batch[i]?.moves[turn];
          if (stepper.stop === null && move) for (const id of idsOf(move)) stepper.take(id);
        }
        if (steppers.every(({ pendingTurn: asked }) => asked === null))
          throw new Error(`turn ${turn}: an episode has not ended.`);
        await answerAll(steppers);
        turns++;
      }
      releaseAll(steppers);
      for (const [i, stepper] of steppers.entries()) compare(stepper, batch[i]!);
    }
  }
  say({ episodes: played.length, test: Math.min(test.length, TOGETHER), turns });

  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const begin = () => openAll(tables('train'), train.slice(0, 8).map(({ task }) => ({ seed: task.index, environmentSeed: 0 }))); // prettier-ignore
  const inTheMiddle = await begin();
  for (const [i, stepper] of inTheMiddle.entries()) for (const id of idsOf(train[i]!.moves[0]!)) stepper.take(id);
  say({ begun: inTheMiddle.length });
  await lines.next(); // it has been killed
  const lost = await answerAll(inTheMiddle).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  releaseAll(inTheMiddle);
  say({ lost });
  await lines.next(); // it is back
  const again = await begin();
  say({ again: again.filter(({ episode }, i) => episode.question === whole(train[i]!.prompt)).length });
  releaseAll(again);
  env.asyncAnswers?.close();
  process.exit(0);
}

function compare({ episode, rewardSums: parts }: Stepper, { task, prompt, moves, replies, reward }: Played): void {
  const view = episode.view();
  if (view.kind !== 'calls') throw new Error(view.kind);
  const want = moves.map((move, i) => ('answer' in move ? '' : whole(replies[i]?.text ?? replies[i]?.refused ?? '')));
  const got = view.steps.map(({ result }) => result);
  const same = JSON.stringify(got) === JSON.stringify(want) && view.prompt === whole(prompt);
  if (same && Math.abs(parts.outcome - reward) < 1e-9) return;
  throw new Error(`${JSON.stringify(task)}: ${JSON.stringify({ got, want, prompt, outcome: parts.outcome, reward })}`);
}

const [target = '', file] = process.argv.slice(2);
if (file === undefined) cpSync(path.dirname(process.argv[1] ?? ''), target, { recursive: true });
else await play(target, file);
