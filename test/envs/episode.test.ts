import { describe, expect, it } from 'vitest';
import { type EnvSettings, NO_REWARD_SETTINGS } from '../../src/envs/env.ts';
import { beginEpisode, type Outcome, type Task, toolRunner } from '../../src/envs/episodeRules.ts';
import { tagCodec } from '../../src/envs/turnCodec.ts';
import { buildVocabulary } from '../../src/envs/vocab.ts';
import { Purpose, random } from '../../src/base/rng.ts';

const WORDS = buildVocabulary(['up', 'down', 'key']);
const SETTINGS: EnvSettings = {
  ...NO_REWARD_SETTINGS,
  ...{ outcomeReward: 2, processReward: 0.5, invalidPenalty: 0.1, thinkReward: 0.3, turnCost: 0.05 },
};
const GOING: Outcome = { observation: ['key'], progress: 0, stop: null, success: false };

/** A task that is asked `up`, `down` or `key` and notes when it was asked what. */
function task(more: Partial<Task> = {}) {
  const asked: string[] = [];
  const made: Task = {
    ...{ key: 'k', prompt: ['<bos>', 'key'], question: 'which?' },
    call: ([word], turn) => {
      asked.push(`call ${turn}`);
      return word === 'up' ? GOING : word === 'key' ? { ...GOING, progress: 1 } : null;
    },
    answer: ([word], turn) => {
      asked.push(`answer ${turn}`);
      return { observation: [], progress: 0, stop: 'answered', success: word === 'key' };
    },
    neededWords: (turn) => {
      asked.push(`needs ${turn}`);
      return ['key'];
    },
    expert: (turn) => ['<answer>', turn === 1 ? 'up' : 'key', '</answer>'],
    demonstrate: (quality, _draw, turn) => ['<call>', turn === 1 && quality === 1 ? 'up' : 'key', '</call>'],
    view: () => ({ kind: 'none' }) as unknown as ReturnType<Task['view']>,
    ...more,
  };
  return { made, asked };
}

const begin = (more: Partial<Task> = {}, { think = false, maxTurns = 3, settings = SETTINGS } = {}) => {
  const { made, asked } = task(more);
  const stateOf = (turn: number) => turn;
  return {
    episode: beginEpisode(
      made,
      { turnCodec: tagCodec(WORDS, think), maxTurns, think, grammarStateOf: stateOf },
      7,
      settings,
    ),
    asked,
  };
};
const say = (text: string) => WORDS.ids(text.split(' '));

describe('a turn', () => {
  it('that calls is answered between tags, costs a call, and leads to the next turn’s state', () => {
    const { episode, asked } = begin();
    expect(episode.grammarState).toBe(1);
    const result = episode.step(say('<call> up </call>'), SETTINGS);
    expect(result).toMatchObject({ valid: true, toolCall: true, waited: 0, stop: null, success: false, thinkEnd: -1 });
    expect(result.observation).toEqual(say('<obs> key </obs>'));
    expect(result.parts).toEqual({
      outcome: 0,
      process: 0,
      call: 0,
      format: 0,
      think: 0,
      turnCost: -0.05,
      preference: 0,
      information: 0,
    });
    expect(result.grammarState).toBe(2);
    expect(asked).toEqual(['call 1']); // what is needed is asked for where thinking is paid alone
    expect(episode.step(say('<call> key </call>'), SETTINGS).parts.process).toBe(0.5);
  });

  it('that calls is paid for being a call once a rollout, at the first that the tool answers', () => {
    const { episode } = begin({}, { maxTurns: 5 });
    const paying = { ...SETTINGS, callReward: 0.25 };
    const paid = ['<call> down </call>', '<call> up </call>', '<call> key </call>', '<answer> key </answer>'].map(
      (text) => episode.step(say(text), paying).parts.call,
    );
    expect(paid).toEqual([0, 0.25, 0, 0]);
  });

  it('that is no sentence, or that the task cannot read, is malformed: a penalty, no call, the error word', () => {
    for (const text of ['up', '<call> down </call>']) {
      const { episode } = begin();
      const result = episode.step(say(text), SETTINGS);
      expect(result).toMatchObject({ valid: false, toolCall: false, stop: null, thinkEnd: -1 });
      expect(result.observation).toEqual(say('<obs> error </obs>'));
      expect(result.parts).toEqual({
        outcome: 0,
        process: 0,
        call: 0,
        format: -0.1,
        think: 0,
        turnCost: 0,
        preference: 0,
        information: 0,
      });
    }
  });

  it('that answers ends it: paid by success or by what the task says, and nothing can follow', () => {
    const { episode } = begin();
    const won = episode.step(say('<answer> key </answer>'), SETTINGS);
    expect(won).toMatchObject({ stop: 'answered', success: true, toolCall: false });
    expect([won.observation, won.grammarState, won.parts.outcome]).toEqual([[], 0, 2]);
    expect(() => episode.step(say('<call> up </call>'), SETTINGS)).toThrow(/is over/);
    expect(begin().episode.step(say('<answer> up </answer>'), SETTINGS).parts.outcome).toBe(0);
    const half = { observation: [], progress: 0, stop: 'answered', success: false, outcomeShare: 0.5 } as const;
    const shared = begin({ answer: () => half }).episode;
    expect(shared.step(say('<answer> up </answer>'), SETTINGS).parts.outcome).toBe(1);
  });

  it('is the last one where the turns are used up, without an observation', () => {
    const { episode } = begin({}, { maxTurns: 2 });
    episode.step(say('<call> up </call>'), SETTINGS);
    const last = episode.step(say('<call> up </call>'), SETTINGS);
    expect(last).toMatchObject({ stop: 'turns', grammarState: 0 });
    expect(last.observation).toEqual([]);
  });

  it('that thinks of what is needed is paid once until an action makes progress', () => {
    const thinking = say('<think> key </think> <call> up </call>');
    const progress = say('<think> key </think> <call> key </call>');
    const { episode, asked } = begin({}, { think: true, maxTurns: 9 });
    const paid = [thinking, thinking, progress, thinking, thinking].map((turn) => {
      const { parts, thinkEnd } = episode.step(turn, SETTINGS);
      expect(thinkEnd).toBe(2);
      return parts.think;
    });
    // the third makes progress without being paid for thinking, and the fourth is a new beginning
    expect(paid).toEqual([0.3, 0, 0, 0.3, 0]);
    expect(asked.filter((each) => each.startsWith('needs'))).toEqual([1, 2, 3, 4, 5].map((turn) => `needs ${turn}`));
    // a thought that names nothing needed leaves the next one its pay
    const other = begin({}, { think: true, maxTurns: 9 }).episode;
    expect(other.step(say('<think> up </think> <call> up </call>'), SETTINGS).parts.think).toBe(0);
    expect(other.step(thinking, SETTINGS).parts.think).toBe(0.3);
    const bad = begin({}, { think: true }).episode;
    expect(bad.step(say('<think> key </think> <call> down </call>'), SETTINGS)).toMatchObject({ thinkEnd: -1 });
  });
});

describe('waiting for a tool', () => {
  const slow = { ...SETTINGS, latency: 1e9 };

  it('uses up turns but the last, which everything after counts', () => {
    const { episode, asked } = begin({}, { maxTurns: 5, settings: slow, think: true });
    const result = episode.step(say('<call> up </call>'), slow);
    expect(result).toMatchObject({ waited: 3, stop: null, grammarState: 5 });
    episode.step(say('<call> up </call>'), slow);
    expect(asked).toEqual(['needs 1', 'call 1', 'needs 5', 'call 2']);
  });

  it('is asked of calls that were answered alone', () => {
    for (const text of ['up', '<call> down </call>']) {
      expect(begin({}, { maxTurns: 5 }).episode.step(say(text), slow)).toMatchObject({ waited: 0 });
    }
    const ends = { call: () => ({ ...GOING, stop: 'answered' as const }) };
    expect(begin(ends, { maxTurns: 5 }).episode.step(say('<call> up </call>'), slow).waited).toBe(0);
  });
});

describe('those who play for the agent', () => {
  it('are told the turn that comes, waited ones counted', () => {
    const turns: string[] = [];
    const note = (who: string) => (turn: number) => {
      turns.push(`${who} ${turn}`);
      return ['<call>', 'up', '</call>'];
    };
    const { episode } = begin(
      { expert: note('expert'), rule: note('rule'), demonstrate: (_q, _d, turn) => note('shows')(turn) },
      { maxTurns: 9 },
    );
    const all = () => {
      const draw = random(1, Purpose.environment);
      const said = [episode.expert(), episode.rule(), episode.demonstrate(1, draw)];
      for (const action of said) expect(action).toEqual(say('<call> up </call>'));
    };
    all();
    const { waited } = episode.step(say('<call> up </call>'), { ...SETTINGS, latency: 1e9 });
    expect(waited).toBe(7);
    all();
    expect(turns).toEqual(['expert 1', 'rule 1', 'shows 1', 'expert 9', 'rule 9', 'shows 9']);
  });

  it('think aloud where there is thinking: an expert always, a demonstrator every other time', () => {
    const { episode } = begin({}, { think: true });
    const [think] = say('<think>');
    expect(episode.expert()[0]).toBe(think);
    const draw = random(4, Purpose.environment);
    const thought = Array.from({ length: 400 }, () => episode.demonstrate(1, draw)[0] === think);
    // half of 400, five standard errors either side
    expect(Math.abs(thought.filter(Boolean).length - 200)).toBeLessThan(50);
    expect(begin().episode.expert()[0]).not.toBe(think);
  });

  it('have no rule, no names and no scores where the task has none', () => {
    const { episode } = begin();
    expect([episode.rule(), episode.names.size, episode.scores()]).toEqual([null, 0, null]);
    const scores = { exact: 1, contains: 1, f1: 1 };
    const named = begin({ names: new Map([['up', 'north']]), scores: () => scores }).episode;
    expect([...named.names]).toEqual([[WORDS.id('up'), 'north']]);
    expect(named.scores()).toBe(scores);
    expect(() => begin({ names: new Map([['sideways', 'x']]) })).toThrow(/sideways/);
  });
});

describe('a tool runner', () => {
  const tool = { name: 't', execute: () => ({ ok: true, content: ['key'] }) } as unknown as Parameters<
    ReturnType<typeof toolRunner>
  >[0];

  it('fails as often as it is told, with the word for it', () => {
    const run = (rate: number) => {
      const draw = random(3, Purpose.environment);
      return Array.from({ length: 400 }, () => toolRunner(rate, draw)(tool, [], {}));
    };
    expect(run(0)).toEqual(new Array(400).fill({ ok: true, content: ['key'] }));
    expect(run(1)).toEqual(new Array(400).fill({ ok: false, content: ['none'] }));
    expect(Math.abs(run(0.25).filter(({ ok }) => !ok).length - 100)).toBeLessThan(45);
  });
});
