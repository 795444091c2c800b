import { describe, expect, test } from 'vitest';
import { agentR1 } from '../../src/rollouts/agentR1.ts';
import { ProblemError } from '../../src/base/problem.ts';
import { parseLine } from '../../src/rollouts/library.ts';
import { ownFormat } from '../../src/rollouts/ownFormat.ts';
import { primeRl } from '../../src/rollouts/primeRl.ts';
import { readPythonJson, parsedIfJson } from '../../src/rollouts/pythonJson.ts';
import { ragen } from '../../src/rollouts/ragen.ts';
import type { RolloutFormat } from '../../src/rollouts/rolloutFormat.ts';
import { recordWithDefaults, type RolloutRecord, type Segment } from '../../src/rollouts/rolloutRecord.ts';
import { DEFAULT_PATTERN, hasRolesRunTogether, parseNames, splitByRole } from '../../src/rollouts/splitPattern.ts';
import { trl } from '../../src/rollouts/trl.ts';
import { verifiers } from '../../src/rollouts/verifiers.ts';
import { verifiersResults } from '../../src/rollouts/verifiersResults.ts';
import { verl } from '../../src/rollouts/verl.ts';

type Line = Readonly<Record<string, unknown>>;
const CONTEXT = { pattern: DEFAULT_PATTERN, wholeNumbers: new Set<string>() };
const readBy = (format: RolloutFormat, line: Line) => format.read(line, CONTEXT);
const one = (format: RolloutFormat, line: Line): RolloutRecord => readBy(format, line)[0] ?? recordWithDefaults({});

/** What a reader says it got of a line that it refuses. */
function gotOf(format: RolloutFormat, line: Line): string {
  try {
    readBy(format, line);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const [problem] = error.problems;
    expect(problem?.want).toMatch(/\w/);
    return problem!.got;
  }
  return 'nothing was refused';
}
/** A stretch without tokens, in few words: `role kind turn text`. */
const inWords = (segments: readonly Segment[]) =>
  segments.map(({ role, kind, turn, text }) => [role, kind, turn, text].join(' '));

describe('this project’s own line', () => {
  // prompt, then a turn with a thought and a call, an observation, a turn that answers, and a pad
  const line = {
    ...{ format: 'rollout-playground', version: 1, id: '4-0', step: 4, group: '4-1', question: 'why', reward: 0.5 },
    ...{ parts: { format: -0.5, outcome: 1, turns: 0 }, success: true, stop: 'answer', turns: 2, tool_calls: 1 },
    tokens: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    words: ['q', '<think>', 'a', '</think>', '<call>', 'w', '</call>', 'o', '<answer>', 'b', '</answer>', '<pad>'],
    roles: [1, 2, 2, 2, 2, 2, 2, 3, 2, 2, 2, 0],
    turn_of: [0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 0],
    loss_mask: [0, 1, 1, 1, 1, 1, 1, 0.5, 1, 1, 1, 0],
    advantages: [7, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 0],
    push: [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    sampled_logprobs: [9, -1, -1, -1, -1, -1, -1, 9, -1, -1, -1, 9],
    values: [9, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 9],
    rewards: [9, 0, 0, 0, 0, 0, 0, 3, 0, 0, 1, 9],
    reward_parts: { outcome: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0] },
    ...{ passes: [{}, {}], seed: 5 },
  };

  test('is read with every list where it speaks, and stretches by role, turn and tag', () => {
    const record = one(ownFormat, line);
    const { segments, tokens, batch, ...rest } = record;
    expect(batch?.batch).toMatchObject({ update: 4, rows: 1, length: 12, unscored: ['returns', 'refLogprobs'] });
    expect(rest).toEqual({
      ...{ id: '4-0', step: 4, group: '4-1', task: 'why', reward: 0.5, success: true, stop: 'answer', turns: 2 },
      ...{ toolCalls: 1, advantage: null, guessed: [] },
      rewardParts: [['outcome', 1], ['format', -0.5]], // prettier-ignore
      extras: [['seed', '5'], ['passes', 'the file has 2 over the batch']], // prettier-ignore
    });
    expect(
      segments.map(({ role, kind, turn, text, from, to }) => [role, kind, turn, text, from, to].join(' ')),
    ).toEqual([
      'prompt prompt 0 q 0 1',
      'action think 1 <think> a </think> 1 4',
      'action call 1 <call> w </call> 4 7',
      'observation observation 1 o 7 8',
      'action answer 2 <answer> b </answer> 8 11',
    ]);
    expect(tokens).toMatchObject({
      ids: line.tokens,
      words: line.words,
      parts: [['outcome', line.reward_parts.outcome]],
    });
    const { sampled, loss, advantage, push, sampledLogprob, value, reward } = tokens!.channels;
    const none = null;
    expect(sampled).toEqual([0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0]);
    expect(loss).toEqual([none, 1, 1, 1, 1, 1, 1, 0.5, 1, 1, 1, none]);
    expect(advantage).toEqual([7, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, none]);
    expect(push).toEqual([3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, none]);
    expect(sampledLogprob).toEqual([none, -1, -1, -1, -1, -1, -1, none, -1, -1, -1, none]);
    expect(value).toEqual([none, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, none]);
    expect(reward).toEqual([none, 0, 0, 0, 0, 0, 0, 3, 0, 0, 1, none]);
    expect(tokens!.channels.entropy).toBeUndefined();
  });

  test('of tags keeps what stands behind them apart: a call, as in the lab', () => {
    const words = ['a', '<think>', 'b', '<think>', 'c', '</think>', 'd', 'e'];
    const shown = one(ownFormat, { ...line, tokens: words.map((_, i) => i), words, roles: [2, 2, 2, 2, 2, 2, 2, 2], turn_of: [1, 1, 1, 1, 1, 1, 1, 2], loss_mask: null, advantages: null, push: null, sampled_logprobs: null, values: null, rewards: null, reward_parts: null }); // prettier-ignore
    expect(inWords(shown.segments)).toEqual([
      ...['action call 1 a', 'action think 1 <think> b <think> c </think>', 'action call 1 d', 'action call 2 e'],
    ]);
  });

  test.each<readonly [Line, string]>([
    [{ version: 2 }, 'version 2'],
    [{ version: null }, 'version null'],
    [{ tokens: null }, 'no tokens'],
    [{ roles: null }, 'no roles'],
    [{ turn_of: [1] }, '1 entries in turn_of'],
    [{ words: null }, 'nothing for words'],
    [{ words: ['a'] }, 'a list of 1 for words'],
    [{ words: line.words.with(1, 3 as never) }, '3 in words, entry 2'],
    [{ push: [1] }, '1 entries in push'],
    [{ states: [] }, '0 entries in states'],
    [{ reward_parts: { outcome: [1] } }, '1 entries in outcome'],
  ])('with %j is refused', (changes, got) => {
    expect(gotOf(ownFormat, { ...line, ...changes })).toBe(got);
  });
});

describe('a trace of verifiers', () => {
  const message = (role: string, content: string) => ({ role, content });
  const node = (role: string, content: string, more: Line = {}) => ({ message: message(role, content), ...more });
  const nodes = [
    node('user', 'q', { sampled: false, token_ids: [1, 2], mask: [0, 0] }),
    node('assistant', 'first', { parent: 0, sampled: true, token_ids: [3], mask: [1], logprobs: [-1] }),
    node('assistant', 'a b', { parent: 0, sampled: true, token_ids: [4, 5, 6], mask: [1, 0, 1], logprobs: [-2, -3], entropies: [], loss_weights: { rl: [1, 0, 2] } }), // prettier-ignore
    node('tool', 'o', { parent: 2, sampled: false }),
  ];
  const trace = {
    ...{ id: 't', nodes, stop_condition: 'max_turns', metrics: { correct: 1, length: 3 }, version: 1 },
    rewards: { exact: { score: 0.5, weight: 2 }, form: { score: 1 }, none: null, gone: { score: null } },
    task: { type: 'Task', data: { prompt: 'what', name: 'n' } },
  };
  const episode = {
    id: 'e',
    traces: [trace],
    group: { id: 7 },
    run: { work: { step: 3, policy: { start: 9 } } },
    ok: true,
  };

  test('is its last branch, with its numbers where the policy drew', () => {
    const { segments, tokens, ...rest } = one(verifiers, episode);
    expect(rest).toEqual({
      ...{
        id: 'e',
        step: 3,
        group: '7',
        task: 'what',
        reward: 2,
        success: true,
        stop: 'max_turns',
        turns: 1,
        toolCalls: 0,
      },
      ...{ advantage: null, guessed: [], rewardParts: [['exact', 1], ['form', 1]] }, // prettier-ignore
      extras: [['branches', '2; the last is shown'], ['correct', '1'], ['length', '3'], ['run', '{"work":{"step":3,"policy":{"start":9}}}'], ['ok', 'true']], // prettier-ignore
    });
    expect(inWords(segments)).toEqual(['prompt prompt 0 q', 'action action 1 a b', 'observation observation 1 o']);
    expect(segments.map(({ from, to }) => [from, to])).toEqual([[0, 2], [2, 5], [null, null]]); // prettier-ignore
    expect(tokens).toEqual({
      ...{ ids: [1, 2, 4, 5, 6], words: null },
      channels: { sampled: [0, 0, 1, 0, 1], sampledLogprob: [null, null, -2, null, -3], loss: [null, null, 1, 0, 2] },
    });
  });

  test('stands alone, is one of several, or says less', () => {
    expect(one(verifiers, trace)).toMatchObject({ id: 't', step: null, group: null, reward: 2 });
    expect(one(verifiers, { ...episode, run: { work: { policy: { start: 9 } } } }).step).toBe(9);
    const two = readBy(verifiers, { ...episode, traces: [{ ...trace, agent: { name: 'x' } }, trace] });
    expect(two.map(({ id }) => id)).toEqual(['e x', 'e ']);
    const bare = { nodes: [node('user', 'q')] };
    expect(one(verifiers, { traces: [bare] })).toMatchObject({ id: null, reward: null, success: null, tokens: null, rewardParts: [] }); // prettier-ignore
    expect(one(verifiers, { traces: [{ ...bare, task: { data: { name: 'n' } }, metrics: { success: 0 } }] })).toMatchObject({ task: 'n', success: false }); // prettier-ignore
    expect(one(verifiers, { traces: [bare] }).extras).toEqual([]); // one branch is not worth a word
    // calls that no list has are those between tags
    expect(one(verifiers, { nodes: [node('assistant', '<call>x</call>', { sampled: true })] }).toolCalls).toBe(1);
    // an answer that was not sampled is history
    const given = [node('assistant', 'a', { sampled: false }), node('assistant', 'b', { parent: 0, sampled: true })];
    expect(inWords(one(verifiers, { nodes: given }).segments)).toEqual(['prompt prompt 0 a', 'action action 1 b']);
    expect(verifiers.recognises({ nodes: [] }) && verifiers.recognises({ traces: null }) && !verifiers.recognises({ node: 1 })).toBe(true); // prettier-ignore
  });

  test('has its stretches at their tokens where the file says a word for each', () => {
    const info = { rollout_playground: { words: { 4: '<think>', 5: 'x', 6: '</think>', 7: 'y' } } };
    const said = node('assistant', '<think> x </think> y', {
      sampled: true,
      token_ids: [4, 5, 6, 7],
      mask: [1, 1, 1, 1],
    });
    const { segments, tokens } = one(verifiers, {
      nodes: [node('user', 'q', { token_ids: [9] }), { ...said, parent: 0 }],
      info,
    });
    expect(segments.map(({ kind, from, to }) => [kind, from, to])).toEqual([['prompt', 0, 1], ['think', 1, 4], ['action', 4, 5]]); // prettier-ignore
    expect(tokens?.words).toEqual(['#9', '<think>', 'x', '</think>', 'y']);
    const uneven = one(verifiers, { nodes: [{ ...said, token_ids: [4, 5, 6, 7, 8], mask: [] }], info });
    expect(uneven.segments.map(({ from, to }) => [from, to])).toEqual([[null, null], [null, null]]); // prettier-ignore
    expect(uneven.tokens?.channels).toEqual({});
  });

  test.each<readonly [readonly Line[], string]>([
    [[node('user', 'q', { parent: 0 })], 'the parent 0 of node 0'],
    [[node('user', 'q'), node('user', 'q', { parent: 1 })], 'the parent 1 of node 1'],
    [[node('user', 'q'), node('user', 'q', { parent: -1 })], 'the parent -1 of node 1'],
    [[node('user', 'q'), node('user', 'q', { parent: 0.5 })], 'the parent 0.5 of node 1'],
    [[node('user', 'q', { token_ids: [1, 2], mask: [1] })], '1 entries in mask'],
    [[node('user', 'q', { token_ids: [1, 2], mask: [1, 0], logprobs: [1, 2] })], '2 entries in logprobs'],
    [[node('user', 'q', { token_ids: [1], logprobs: [1] })], '1 entries in logprobs'],
    [[node('user', 'q', { token_ids: [1], loss_weights: { rl: [1, 2] } })], '2 entries in rl'],
    [[node('narrator', 'q')], 'the role the text “narrator”'],
  ])('%# is refused by what is wrong with its nodes', (bad, got) => {
    expect(gotOf(verifiers, { nodes: bad })).toBe(got);
  });

  test('is refused where a reward is neither a number nor an object', () => {
    expect(gotOf(verifiers, { nodes: [], rewards: { a: [3] } })).toBe('a list of 1 for a reward');
  });
});

describe('messages', () => {
  const shownOf = (...messages: readonly Line[]) => inWords(one(ragen, { messages, metadata: {} }).segments);

  test('are of one of nine roles; a user who answers is a tool’s voice', () => {
    const roles = ['system', 'developer', 'user', 'assistant', 'model', 'tool', 'function', 'ipython', 'environment'];
    expect(roles.map((role) => shownOf({ role, content: 'x' })[0]?.split(' ')[0])).toEqual([
      ...['system', 'system', 'prompt', 'action', 'action', 'observation', 'observation', 'observation', 'observation'],
    ]);
    const user = { role: 'user', content: 'u' };
    expect(shownOf(user, { role: 'assistant', content: 'a' }, user)).toEqual([
      ...['prompt prompt 0 u', 'action action 1 a', 'observation observation 1 u'],
    ]);
    for (const role of ['Assistant', 'toString', null]) {
      expect(gotOf(ragen, { messages: [{ role, content: 'x' }] })).toMatch(/^the role /);
    }
  });

  test('have texts, or parts of which only texts are shown; reasoning stands before, calls behind', () => {
    const parts = ['a', { type: 'text', text: 'b' }, { type: 'image_url' }, {}];
    expect(shownOf({ role: 'user', content: parts })).toEqual(['prompt prompt 0 a\nb\n[image_url]\n[part]']);
    for (const content of ['', null, undefined]) expect(shownOf({ role: 'user', content })).toEqual([]);
    const call = { function: { name: 'f', arguments: { a: [null, { b: null }] } } };
    const spoken = {
      role: 'assistant',
      content: 'so',
      reasoning: 'hm',
      tool_calls: [call, { arguments: '{}' }, null, 'g()'],
    };
    expect(shownOf(spoken)).toEqual(['action think 1 hm', 'action action 1 so', 'action call 1 f({"a":[null,{}]})', 'action call 1 call({})', 'action call 1 call(g())']); // prettier-ignore
    expect(shownOf({ ...spoken, reasoning_content: 'first', tool_calls: null })).toEqual(['action think 1 first', 'action action 1 so']); // prettier-ignore
    const got = (message: Line) => gotOf(ragen, { messages: [{ role: 'assistant', ...message }] });
    expect([got({ content: 3 }), got({ content: [3] }), got({ tool_calls: [3] })]).toEqual([
      ...['3 for content', '3 in content', '3 in tool_calls'],
    ]);
  });

  test('of RAGEN have an id, a group, a score, and what else was written about them', () => {
    const metadata = { group_id: 4, total_reward: 0.5, success: false, num_turns: 3, env: 'x' };
    const line = { custom_id: 'c', messages: [{ role: 'user', content: 'q' }], metadata, more: 1 };
    expect(one(ragen, line)).toMatchObject({ id: 'c', group: '4', reward: 0.5, success: false, turns: 3, toolCalls: 0, guessed: [], step: null, extras: [['env', 'x'], ['more', '1']] }); // prettier-ignore
    expect(['messages', 'metadata', 'custom_id'].map((key) => ragen.recognises({ messages: [], [key]: 1 }))).toEqual([false, true, true]); // prettier-ignore
  });

  test('of verifiers’ results are prompt and completion, scored by name', () => {
    const line = { id: 'r', example_id: 4, step: 2, task: 't', prompt: 'q', completion: 'a', reward: 0.25, metrics: { correct: 0, f: 2 }, f: 2, stop_condition: 's', x: 1 }; // prettier-ignore
    const { segments, ...rest } = one(verifiersResults, line);
    expect(inWords(segments)).toEqual(['prompt prompt 0 q', 'action action 1 a']);
    expect(rest).toMatchObject({ id: 'r', group: '4', step: 2, task: 't', reward: 0.25, success: false, stop: 's', turns: 1, toolCalls: 0, guessed: [], extras: [['correct', '0'], ['f', '2'], ['x', '1']] }); // prettier-ignore
    expect(inWords(one(verifiersResults, { ...line, completion: [{ content: 'a' }] }).segments)[1]).toBe(
      'action action 1 a',
    ); // without a role
    expect(one(verifiersResults, { ...line, example_id: null, metrics: { success: 1 } })).toMatchObject({ success: true, guessed: ['group'] }); // prettier-ignore
  });
});

describe('a trajectory of Agent-R1', () => {
  const step = (input: string, output: string, more: Line = {}) => ({ input, output, ...more });
  const shownOf = (...steps: readonly Line[]) => inWords(one(agentR1, { trajectory_uid: 't', steps }).segments);

  test('shows of each step’s prompt what the one before had not', () => {
    expect(shownOf(step('q', 'a'), step('qa o', 'b'))).toEqual([
      ...['prompt prompt 0 q', 'action action 1 a', 'observation observation 1  o', 'action action 2 b'],
    ]);
    // a prompt that was written anew, in which the last answer stands, or does not
    expect(shownOf(step('q', 'a'), step('Q: q A: a O: o', 'b'))[2]).toBe('observation observation 1  O: o');
    expect(shownOf(step('q', 'zz'), step('other', 'b'))[2]).toBe('observation observation 1 other');
    expect(shownOf(step('q', ''), step('qo', 'b'))[1]).toBe('observation observation 0 o');
    expect(shownOf(step('q', ''), step('other', 'b'))[1]).toBe('observation observation 0 other');
    expect(shownOf(step('x\nassistant\nold', 'a'))).toEqual(['prompt prompt 0 x\n', 'prompt prompt 0 assistant\nold', 'action action 1 a']); // prettier-ignore
  });

  test('has what each step was paid, and what else its steps say', () => {
    const steps = [
      step('q', 'a', { score: 0.5, gts: 'g', note: 'n' }),
      step('qa', 'b', { score: 1, step_index: 4 }),
      step('qab', ''),
    ];
    const record = one(agentR1, { trajectory_uid: 't', step: 3, score: 1.5, acc: 1, num_steps: 9, steps, more: 'm' });
    expect(record).toMatchObject({
      id: 't',
      step: 3,
      reward: 1.5,
      success: true,
      turns: 9,
      guessed: ['roles', 'group'],
    });
    expect(record.rewardParts).toEqual([['step 0', 0.5], ['step 4', 1]]); // prettier-ignore
    expect(record.extras).toEqual([['more', 'm'], ['step 0: note', 'n']]); // prettier-ignore
    expect(one(agentR1, { trajectory_uid: 't', steps: [step('q', 'a')] }).turns).toBe(1);
    expect(gotOf(agentR1, { trajectory_uid: 't', steps: [] })).toBe('a trajectory without steps');
    expect(['trajectory_uid', 'num_steps', 'x'].map((key) => agentR1.recognises({ steps: [], [key]: 1 }))).toEqual([true, true, false]); // prettier-ignore
  });
});

test('a line of verl has an id with its group in it, or a request’s; what the prompt holds is no turn', () => {
  const line = {
    input: 'user\nq\nassistant\nold',
    output: 'a<answer>b</answer>',
    score: 0.5,
    step: 2,
    acc: true,
    more: 1,
  };
  const record = one(verl, { ...line, uid: 's_1_2_3' });
  expect(record).toMatchObject({ id: 's_1_2_3', group: 's_1', reward: 0.5, step: 2, success: true, turns: 1, toolCalls: 0, guessed: ['roles', 'turns'], extras: [['more', '1']] }); // prettier-ignore
  expect(inWords(record.segments)).toEqual(['prompt prompt 0 user\nq\n', 'prompt prompt 0 assistant\nold', 'action action 1 a', 'action answer 1 <answer>b</answer>']); // prettier-ignore
  for (const uid of ['x', '_1_2', 's_1', 's_a_2']) {
    expect(one(verl, { ...line, uid })).toMatchObject({ id: uid, guessed: ['roles', 'turns', 'group'] });
  }
  expect(one(verl, { ...line, request_id: 'r' }).id).toBe('r');
});

test('a completion of TRL guesses its group, and what its rewards add up to where it has some', () => {
  const line = { step: 2, prompt: 'q', completion: 'a', advantage: 0.5, note: 'n' };
  expect(one(trl, line)).toMatchObject({ step: 2, reward: null, rewardParts: [], advantage: 0.5, turns: 1, guessed: ['group'], extras: [['note', 'n']] }); // prettier-ignore
  const scored = { step: 2, prompt: 'q', completion: 'a', r: 1, s: 0.5, advantage: 0.5 };
  expect(one(trl, scored)).toMatchObject({ reward: 1.5, rewardParts: [['r', 1], ['s', 0.5]], guessed: ['group', 'reward'], extras: [] }); // prettier-ignore
  const recognised = [{ advantage: 1 }, { step: 1 }, {}, { step: 1, reward: 1 }, { step: 1, example_id: 1 }].map((more) => trl.recognises({ prompt: 'q', completion: 'a', ...more })); // prettier-ignore
  expect(recognised).toEqual([true, true, false, false, false]);
  expect(trl.recognises({ prompt: 'q', advantage: 1 })).toBe(false);
});

test('a sequence of prime-rl is the agent’s where it is in the loss', () => {
  const line = { token_ids: [1, 2, 3, 4, 5], loss_mask: [0, 1, 1, 0, 1], entropy: [0, 1, null, 0, 2], step: 1, rank: 2, export_sequence_idx: 3, env_name: 'e', x: 1 }; // prettier-ignore
  const { segments, tokens, ...rest } = one(primeRl, line);
  expect(rest).toMatchObject({ id: '1-2-3', step: 1, task: 'e', guessed: ['roles'], extras: [['x', '1']] });
  expect(segments.map(({ role, kind, turn, text, from, to }) => [role, kind, turn, text, from, to])).toEqual([
    ['prompt', 'prompt', 0, '', 0, 1],
    ['action', 'action', 1, '', 1, 3],
    ['observation', 'observation', 1, '', 3, 4],
    ['action', 'action', 2, '', 4, 5],
  ]);
  expect(tokens).toEqual({
    ids: line.token_ids,
    words: null,
    channels: { loss: line.loss_mask, entropy: line.entropy },
  });
  expect(one(primeRl, { ...line, loss_mask: null, rank: null })).toMatchObject({ id: null, segments: [{ role: 'action', from: 0, to: 5 }] }); // prettier-ignore
  expect([gotOf(primeRl, { token_ids: null }), gotOf(primeRl, { ...line, entropy: [1] })]).toEqual(['no token_ids', '1 entries in entropy']); // prettier-ignore
  expect([primeRl.recognises({ token_ids: 1 }), primeRl.recognises({ token_ids: 1, entropy: null })]).toEqual([false, true]); // prettier-ignore
});

describe('JSON as Python writes it', () => {
  test.each<readonly [string, unknown, number]>([
    ['{"a": NaN, "b": [-Infinity, Infinity]}', { a: null, b: [null, null] }, 3],
    ['{"a NaN": "NaN", "b": NaN}', { 'a NaN': 'NaN', b: null }, 1],
    [String.raw`["\"NaN", "\\", NaN, "\\\" NaN"]`, ['"NaN', '\\', null, '\\" NaN'], 1],
    ['[1152921504606846977, -1152921504606846977]', ['1152921504606846977', '-1152921504606846977'], 0],
    ['[9007199254740991, 9007199254740993]', [9007199254740991, '9007199254740993'], 0],
    ['["1152921504606846977", 0.12345678901234567, 1152921504606846977e3, 12345678901234567.5]', ['1152921504606846977', ...['0.12345678901234567', '1152921504606846977e3', '12345678901234567.5'].map(Number)], 0], // prettier-ignore
    ['[1152921504606846977, NaN]', ['1152921504606846977', null], 1],
    ['{"1152921504606846977": 123456789012345}', { '1152921504606846977': 123456789012345 }, 0],
  ])('%s is read', (text, value, nonFinite) => {
    expect(readPythonJson(text)).toEqual({ value, nonFinite });
  });

  test('is refused elsewhere, with places in the text as it was; parts of it are unwrapped where they are objects or lists', () => {
    for (const text of ['', '{', '[NaN', 'nan', '["a]', 'NaNs', '{"a": 1152921504606846977,}']) {
      expect(() => readPythonJson(text)).toThrow(SyntaxError);
    }
    expect(() => readPythonJson('[1152921504606846977, x]')).toThrow(/977, x|position 22/);
    expect([parsedIfJson(' {"a": NaN}'), parsedIfJson('\n[1]'), parsedIfJson('3'), parsedIfJson('{x'), parsedIfJson(3)]).toEqual([{ a: null }, [1], '3', '{x', 3]); // prettier-ignore
  });

  test('of a line is an object in UTF-8; anything else is told', () => {
    const of = (text: string) => parseLine(new TextEncoder().encode(text));
    expect(of('{"a": NaN}')).toEqual({ line: { a: null }, nonFinite: 1 });
    for (const [text, got] of [
      ['[1, 2]', /^a list of 2$/],
      ['3', /^3$/],
      ['"x"', /^the text “x”$/],
    ] as const) {
      const found = expect.objectContaining({ got: expect.stringMatching(got) as string }) as unknown;
      expect(() => of(text)).toThrow(expect.objectContaining({ problems: [found] }));
    }
    expect(() => parseLine(Uint8Array.of(0x7b, 0xff))).toThrow(/UTF-8/);
    expect(() => of('{"a": 1} x')).toThrow(/character \d+|x/);
  });
});

describe('a text of which nobody said who wrote what', () => {
  const pieces = (text: string, begin: 'prompt' | 'action' = 'action', glued = false) =>
    splitByRole(text, DEFAULT_PATTERN, begin, glued).map(({ role, kind, text: of }) => `${role} ${kind} ${of}`);

  test('is divided by lines that are a role and by tags, and no character is lost', () => {
    expect(pieces('system\nBe brief.\nuser\nq\nassistant\na\ntool\no\n', 'prompt')).toEqual([
      ...['system system system\nBe brief.\n', 'prompt prompt user\nq\n', 'action action assistant\na\n'],
      'observation observation tool\no\n',
    ]);
    expect(pieces('a<think>b</think><call>c</call> d<obs>e</obs>f<answer>g')).toEqual([
      ...['action action a', 'action think <think>b</think>', 'action call <call>c</call>', 'action action  d'],
      ...['observation observation <obs>e</obs>', 'action action f', 'action answer <answer>g'],
    ]);
    // a line is one to its end, blanks apart
    expect(pieces('user \t\r\nq')).toEqual(['prompt prompt user \t\r\nq']);
    expect(pieces('userx\n user\nuser q')).toEqual(['action action userx\n user\nuser q']);
  });

  test('takes tags for what they say only where they can be meant', () => {
    // the agent alone thinks, calls and answers; tools are heard once it has spoken
    expect(pieces('<call>x</call><obs>y</obs>', 'prompt')).toEqual(['prompt prompt <call>x</call><obs>y</obs>']);
    expect(pieces('assistant\na\nuser\n<obs>y</obs>z', 'prompt').at(-2)).toBe('observation observation <obs>y</obs>');
    expect(pieces('assistant\na\nsystem\n<obs>y</obs>', 'prompt').at(-1)).toMatch(/^system system/);
    // inside a tag another is text, and so is another's end; a tool may say any line
    expect(pieces('<think><call>x</call></think>y')).toEqual(['action think <think><call>x</call></think>', 'action action y']); // prettier-ignore
    expect(pieces('a<obs>user\nx\n</obs>')).toEqual([
      'action action a',
      'observation observation <obs>user\nx\n</obs>',
    ]);
    // a thought that the chat template had opened
    expect(pieces('hm</think>a')).toEqual(['action think hm</think>', 'action action a']);
    expect(pieces('hm</call>a')).toEqual(['action action hm</call>a']);
    expect(pieces('hm</think>a', 'prompt')).toEqual(['prompt prompt hm</think>a']);
    // a line of a role ends a tag that nothing closed
    expect(pieces('<think>a\nuser\nb')).toEqual(['action think <think>a\n', 'prompt prompt user\nb']);
    expect(pieces('<Think>a</Think><thinker>')).toEqual(['action action <Think>a</Think><thinker>']);
  });

  test('may have roles at the end of a word, as Llama 3’s are, but not where that is an English word', () => {
    expect(pieces('Go on.assistant\n\na', 'prompt', true)).toEqual(['prompt prompt Go on.', 'action action assistant\n\na']); // prettier-ignore
    expect(pieces('Go on.assistant\n\na', 'prompt')).toHaveLength(1);
    for (const word of ['superuser', 'Enduser', 'ecosystem', 'powertool', 'multi-tool']) {
      expect(pieces(`the ${word}\n\nx`, 'prompt', true)).toHaveLength(word.includes('-') ? 2 : 1);
    }
    const glued = (prompt: string) => hasRolesRunTogether(prompt, DEFAULT_PATTERN);
    expect([glued('user\n\nq.assistant\n\n'), glued(' system\r\n\r\nq.assistant'), glued('user\nq\nassistant\n'), glued('user\n\nq'), glued('x user\n\nq.assistant\n\n')]).toEqual([true, true, false, false, false]); // prettier-ignore
    expect(hasRolesRunTogether('user\n\nq.assistant\n\n', { ...DEFAULT_PATTERN, assistant: [] })).toBe(false);
  });

  test('is one piece where the pattern is empty, and none where there is no text', () => {
    const empty = Object.fromEntries(Object.keys(DEFAULT_PATTERN).map((key) => [key, []])) as never;
    expect(splitByRole('user\n<think>', empty, 'prompt')).toEqual([
      { role: 'prompt', kind: 'prompt', text: 'user\n<think>' },
    ]);
    expect([splitByRole('', DEFAULT_PATTERN, 'action'), splitByRole('', empty, 'action')]).toEqual([[], []]);
    const tagsAlone = { ...DEFAULT_PATTERN, system: [], user: [], assistant: [], tool: [] };
    expect(splitByRole('user\n<call>x', tagsAlone, 'action').map(({ kind }) => kind)).toEqual(['action', 'call']);
  });

  test('is found by names that a person typed: letters, digits and dashes, each once, twenty at most', () => {
    expect(parseNames(' think, <call> </obs>,a-b_c\tthink x.y  ')).toEqual(['think', 'call', 'obs', 'a-b_c']);
    expect(parseNames('')).toEqual([]);
    expect([parseNames('x'.repeat(40)).length, parseNames('x'.repeat(41)).length]).toEqual([1, 0]);
    expect(parseNames(Array.from({ length: 25 }, (_, i) => `n${i}`).join(' '))).toHaveLength(20);
  });
});
