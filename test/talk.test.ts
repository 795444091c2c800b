import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENV_NAMES, type EnvName } from '../src/config/environments.ts';
import { parseConfig, type RunConfig } from '../src/config/config.ts';
import type { ChosenTask, TalkSampling, Voice } from '../src/domain/taskForm.ts';
import { batchBytes, type KeptBatch } from '../src/domain/batch.ts';
import { Role } from '../src/domain/tokens.ts';
import { createEnv, envSettings } from '../src/envs/index.ts';
import { expertPlayer, playToEnd } from '../src/envs/players.ts';
import { openEpisode } from '../src/envs/stepper.ts';
import { ownLines } from '../src/rollouts/writeOwn.ts';
import { openSession, type Session } from '../src/session/session.ts';
import type { Question } from '../src/wire/questions.ts';
import { channelValue } from '../src/page/rollout/channels.ts';
import { factsFor } from './envs/factFiles.ts';
import { bareHost } from './bareHost.ts';

const tiny = { layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 16, backend: 'cpu', warmStart: 'none' };
const small = { ...tiny, prompts: 4, groupSize: 2, minibatches: 2, updates: 9, evalEvery: 0, evalTasks: 8, seed: 7 };
const sampling: TalkSampling = { temperature: 1, topK: 0, topP: 1, greedy: false };

async function open(config: RunConfig, updates = 0): Promise<Session> {
  const session = await openSession(config, bareHost, () => undefined);
  for (let at = -1; at < updates;) {
    const next = await session.events.next();
    if (next.done === true || next.value.type !== 'metrics') continue;
    at = next.value.update;
    session.history.keepState(at, (await session.policy.readState()).policy);
  }
  return session;
}

async function talk(
  session: Session,
  asked: ChosenTask,
  more: { voice?: Voice; take?: number; script?: number[]; sampling?: TalkSampling } = {},
) {
  const { voice = 'now', take: drawIndex = 1, script: agentPrefix = [] } = more;
  const answer = await session.answer({ kind: 'talk', chosenTask: asked, environmentSeed: 3, agentPrefix, voice, sampling: more.sampling ?? sampling, drawIndex }); // prettier-ignore
  if (answer.kind !== 'talk') throw new Error(JSON.stringify(answer));
  return answer;
}

type AskedDistribution = Extract<Question, { kind: 'distribution' }>;

async function distributionAt(session: Session, asked: Omit<AskedDistribution, 'kind'>) {
  const answer = await session.answer({ kind: 'distribution', ...asked });
  if (answer.kind !== 'distribution') throw new Error(JSON.stringify(answer));
  return answer;
}

/** Environments whose tasks a person can word. */
const WORDED = ENV_NAMES.flatMap((env) => {
  const config = parseConfig({ ...small, env });
  const made = createEnv(config, factsFor(env));
  return made.taskForm ? [{ env, config, made, asking: made.taskForm }] : [];
});

describe('a task in a person’s words', () => {
  test('exists where a task can be worded, and nowhere else', () => {
    const worded = WORDED.map(({ env }) => env);
    expect(worded.length).toBeGreaterThanOrEqual(9);
    for (const drawn of ['frozen-lake', 'sokoban']) expect(worded).not.toContain(drawn);
  });

  test.each(WORDED)(
    '$env: its example can be asked, fits, and the scripted expert solves it',
    ({ config, made, asking }) => {
      expect(asking.example).toHaveLength(asking.blanks.length);
      const { reset: begin, answerKnown: judged } = asking.makeTask(asking.example);
      for (const seed of [1, 2, 3]) {
        const stepper = openEpisode(
          { env: made, settings: envSettings(config), begin },
          { seed, environmentSeed: seed },
        );
        expect(playToEnd(stepper, expertPlayer).success).toBe(true);
      }
      expect(judged).toBe(true);
    },
  );

  test.each(WORDED)('$env: words that a blank doesn’t accept are refused with the words it accepts', ({ asking }) => {
    const wrong = asking.blanks.map(({ words }) => (words === null ? '' : 'no such word'));
    expect(() => asking.makeTask(wrong)).toThrow(/(is empty|can’t be “no such word”)\. Use /);
    expect(() => asking.makeTask([...asking.example, 'more'])).toThrow(/takes at most/);
  });

  test('is the task that was asked: the calculator’s chain, the hidden number, the facts’ own names', () => {
    const asked = (env: EnvName, words: readonly string[]) => {
      const found = WORDED.find((each) => each.env === env);
      return found?.asking.makeTask(words).reset(1, envSettings(found.config), 1);
    };
    expect(asked('calculator', ['12', '+', '5', '×', '3'])?.question).toBe('What is 12 + 5 × 3, from left to right?');
    expect(asked('number-hunt', ['11'])?.view()).toMatchObject({ target: 11 });
    expect(asked('multi-hop', ['boss', 'friend', '', 'ada'])?.question).toBe('Who is the boss of the friend of ada?');
    expect(asked('document-search', ['Where is it?'])?.question).toBe('Where is it?');
  });

  test('what has no answer is refused by what is wrong with it', () => {
    const ask = (env: EnvName, words: readonly string[]) => () =>
      WORDED.find((each) => each.env === env)?.asking.makeTask(words);
    expect(ask('calculator', ['90', '+', '50', '-', '3'])).toThrow(
      /reaches 140 on the way\. Results must stay between 0 and 99/,
    );
    expect(ask('calculator', ['9', '+', '5', '×'])).toThrow(/Operation 2 is only “×”/);
    expect(ask('countdown', ['99', '1', '1', '1'])).toThrow(/can’t make 99 in any order/);
    expect(ask('document-search', ['word '.repeat(80)])).toThrow(/has 80 words\. Use 1 to/);
  });
});

describe('talking to a run', () => {
  const config = parseConfig({ ...small, maxTurns: 3, learningRate: 0.05 });
  let session: Session;
  beforeAll(async () => {
    session = await open(config, 2);
  });
  afterAll(() => session.dispose());

  test('plays the task that was asked, to its end; other draws, another rollout; the same draws, the same', async () => {
    const [one, again, ...others] = [
      await talk(session, { words: ['11'] }),
      await talk(session, { words: ['11'] }),
      await talk(session, { words: ['11'] }, { take: 2 }),
      await talk(session, { words: ['11'] }, { take: 3 }),
    ];
    expect(one.batch.episodes[0]?.view).toMatchObject({ kind: 'number-line', target: 11 });
    expect(one.batch.tokens).toEqual(again.batch.tokens);
    expect(others.some(({ batch }) => batch.tokens.join() !== one.batch.tokens.join())).toBe(true);
    expect([...one.batch.lossMask, ...one.batch.gradWeights].every((x) => x === 0)).toBe(true); // never in the loss
  });

  test('a script is what the agent says first, and greedy is the likeliest token each time', async () => {
    const one = await talk(session, { seed: 5 });
    const actions = [...one.batch.tokens].filter((_, t) => one.batch.roles[t] === Role.action);
    const script = actions.slice(0, 2);
    const other = await talk(session, { seed: 5 }, { script, take: 9 });
    expect([...other.batch.tokens].filter((_, t) => other.batch.roles[t] === Role.action).slice(0, 2)).toEqual(script);
    const greedy = await talk(session, { seed: 5 }, { sampling: { ...sampling, greedy: true }, take: 4 });
    const at = greedy.batch.roles.findIndex((role, t) => role === Role.action && greedy.batch.singles[t] === 0);
    const asked = await distributionAt(session, { rollout: { branch: greedy.id }, position: at });
    expect(greedy.batch.tokens[at]).toBe(asked.now.indexOf(Math.max(...asked.now)));
  });

  test('before training speaks with the weights the run began with, and both distributions are told', async () => {
    const fresh = await open(config);
    const asked = { words: ['6'] };
    const [began, now] = [await talk(session, asked, { voice: 'begun' }), await talk(session, asked)];
    const untrained = await talk(fresh, asked);
    expect(began.batch.sampledLogprobs).toEqual(untrained.batch.sampledLogprobs);
    expect(now.batch.sampledLogprobs).not.toEqual(untrained.batch.sampledLogprobs);
    // the word after the first, which every agent begins its turn with
    const position = began.batch.roles.indexOf(Role.action) + 1;
    const told = await distributionAt(session, { rollout: { branch: began.id }, position, since: 'begun' });
    const ofUntrained = await distributionAt(fresh, { rollout: { branch: untrained.id }, position });
    expect(told.before).toEqual(ofUntrained.now);
    const word = now.batch.tokens[position]!;
    expect(told.now[word]).toBeCloseTo(now.batch.logprobs[position]!, 5); // float32 sums in another order
    expect(Math.abs(told.now[word]! - told.before![word]!)).toBeGreaterThan(1e-4);
    expect(told.after).toEqual(told.now);
    fresh.dispose();
  });

  test('what nobody measured of it is in no file: no reference, critic or group, though the run has them', async () => {
    const scored = await open(parseConfig({ ...small, maxTurns: 3, estimator: 'gae', klCoef: 0.1 }), 1);
    const { batch: said, config: its, vocabulary } = await talk(scored, { words: ['11'] });
    const ofTraining = scored.history.batch(1)!;
    const keys = ['ref_logprobs', 'values', 'returns', 'advantages'];
    const inFile = (kept: KeptBatch) => {
      const line = JSON.parse(ownLines(kept, vocabulary)[0]!) as object;
      return keys.filter((key) => key in line);
    };
    expect(inFile({ batch: said, config: its })).toEqual([]);
    expect(inFile(ofTraining)).toEqual(keys);
    const view = { batch: said, config: its, row: 0, logprobsAroundUpdate: null };
    expect(said.roles.some((_, i) => channelValue(view, 'kl', i) !== undefined)).toBe(false);
    expect(said.roles.some((_, i) => channelValue(view, 'value', i) !== undefined)).toBe(false);
    expect(batchBytes(said)).toBeGreaterThan(0); // a number, whatever the batch says of itself
    scored.dispose();
  });

  test('leaves no trace in training: the next update is that of a run nobody talked to', async () => {
    const [talked, silent] = [await open(config, 1), await open(config, 1)];
    await talk(talked, { words: ['3'] });
    await talk(talked, { seed: 8 }, { voice: 'begun', take: 5 });
    for (const each of [talked, silent]) {
      for (;;) {
        const next = await each.events.next();
        if (next.done === true || (next.value.type === 'metrics' && next.value.update === 2)) break;
      }
    }
    expect(await talked.parametersHash()).toBe(await silent.parametersHash());
    talked.dispose();
    silent.dispose();
  });

  test('where tasks cannot be worded there is no form, and a number chooses', async () => {
    const lake = await open(parseConfig({ ...small, env: 'frozen-lake' }));
    expect(await lake.answer({ kind: 'ask-form' })).toEqual({ kind: 'ask-form', form: null });
    await expect(talk(lake, { words: ['x'] })).rejects.toThrow(/Choose one by number/);
    expect((await talk(lake, { seed: 4 })).judged).toBe(true);
    lake.dispose();
  });
});
