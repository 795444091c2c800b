import { describe, expect, test } from 'vitest';
import { Role } from '../../src/domain/tokens.ts';
import { expertPlayer } from '../../src/envs/players.ts';
import { openEpisode } from '../../src/envs/stepper.ts';
import { envSettings } from '../../src/envs/index.ts';
import { bytesInMemory } from '../../src/formats/byteSource.ts';
import { memoryPlan, openReadingModel } from '../../src/speaking/readingModel.ts';
import { taskEnv, TaskPlay } from '../../src/speaking/taskPlay.ts';
import { openTextCheckpoint } from '../../src/speaking/textCheckpoint.ts';
import { Writer } from '../../src/speaking/writer.ts';
import type { SpokenToken, WriteOptions } from '../../src/wire/speakerMessages.ts';
import { tinyGguf } from './tinyGguf.ts';

const WRITING: WriteOptions = { sampling: { temperature: 1, topK: 0, topP: 1, greedy: false }, steps: 40, seed: 3 };
const silent = { onRead: () => undefined, onLost: () => undefined };

/** Task 7 of the calculator, begun with the tiny model, which knows bytes: its prompts are some 1,500 tokens long. */
async function playing(steps = 120) {
  const checkpoint = await openTextCheckpoint([{ path: 'tiny.gguf', source: bytesInMemory('tiny.gguf', tinyGguf()) }]);
  const plan = await memoryPlan(checkpoint, { length: 4096, engine: null }, undefined);
  const writer = new Writer(await openReadingModel(checkpoint, plan, { gpu: undefined }, silent), checkpoint.codec);
  const { codec, template } = checkpoint;
  if (!template) throw new Error('the tiny model has a template');
  const env = taskEnv('calculator', null, { codec, template });
  const told: SpokenToken[] = [];
  const onWrote = (from: number, tokens: readonly SpokenToken[]) => {
    told.length = from;
    told.push(...tokens);
    return Promise.resolve(true);
  };
  const play = new TaskPlay(writer, env, { asked: { seed: 7 }, environmentSeed: 5, maxTurnTokens: steps });
  await play.begin(onWrote);
  // the same task as the scripted expert plays it
  const stepper = openEpisode({ env: env.env, settings: envSettings(env.config) }, { seed: 7, environmentSeed: 5 });
  const expertTurn = () => {
    const ids = expertPlayer(stepper);
    for (const id of ids) stepper.take(id);
    return codec.decode(ids).replace(/<\|im_end\|>$/, '');
  };
  return { play, writer, told, onWrote, codec, stepper, expertTurn };
}

describe('a task', () => {
  test('typed as the expert plays it, is solved, paid and ends as the expert’s own', async () => {
    const { play, writer, told, onWrote, codec, stepper, expertTurn } = await playing();
    expect(codec.decode(told.map(({ id }) => id))).toMatch(/<tools>[\s\S]*calculate[\s\S]*<\|im_start\|>assistant\n$/);
    expect(play.state.expert).toBe(null); // not before the task is over
    const said: string[] = [];
    let why = 'turn';
    while (why === 'turn') {
      said.push(expertTurn());
      why = await play.playTyped(said.at(-1) ?? '', onWrote);
    }
    expect(why).toBe('over');
    expect(writer.written.map(({ id }) => id)).toEqual(stepper.tokens.map(({ token }) => token));
    expect(told).toEqual(writer.written);
    expect(play.state).toMatchObject({ stop: stepper.stop, success: true, judged: true, tools: ['calculate'] });
    expect(play.state.reward).toBeCloseTo(
      stepper.finishedTurns.flatMap(({ parts }) => Object.values(parts)).reduce((a, b) => a + b, 0),
      10,
    ); // sums in another order
    expect(play.state.turns).toHaveLength(stepper.finishedTurns.length);
    expect(play.state.expert).toEqual({ success: true, reward: play.state.reward, turns: said });
    await expect(play.playTyped('more', onWrote)).rejects.toThrow(/at most 0 fit/);
  });

  test('a mistake is answered in words, and the model of noise makes one', async () => {
    const { play, writer, onWrote, codec } = await playing(40);
    expect(await play.playTyped('<tool_call>\n{"name": "calculate"\n</tool_call>', onWrote)).toBe('turn');
    const textOf = (turn: number, role: Role) =>
      codec.decode(writer.written.filter((token) => token.turn === turn && token.role === role).map(({ id }) => id));
    expect(textOf(1, Role.observation)).toContain('a call that is not JSON');
    expect(play.state.turns[0]).toMatchObject({ valid: false, toolCall: false });
    await play.play(1, WRITING, onWrote);
    expect(play.state.turns[1]).toMatchObject({ turn: 2, valid: false });
    expect(textOf(2, Role.observation)).toContain('error');
    expect(writer.written.filter(({ turn, role }) => turn === 2 && role === Role.action).length).toBeLessThanOrEqual(
      40,
    );
  });

  test('another token in a turn replays the task up to it: text and episode stay the same ids', async () => {
    const { play, writer, told, onWrote, expertTurn, codec } = await playing();
    const first = expertTurn();
    await play.playTyped(first, onWrote);
    const at = told.findIndex(({ role }) => role === Role.action) + 3;
    const before = told.slice(0, at).map(({ id }) => id);
    await play.replaceToken(at, codec.encode('x')[0] ?? 0, WRITING, onWrote);
    expect(writer.written.slice(0, at).map(({ id }) => id)).toEqual(before);
    expect(writer.written[at]?.text).toBe('x');
    expect(told).toEqual(writer.written);
    expect(play.state.turns[0]).toMatchObject({ valid: false });
    await expect(play.replaceToken(0, 65, WRITING, onWrote)).rejects.toThrow(/one of the agent’s own/);
  });
});
