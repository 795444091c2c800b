import { expect } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { TEXT_AGENT } from '../../src/config/textAgent.ts';
import { Role } from '../../src/domain/tokens.ts';
import type { ToolEnv } from '../../src/envs/env.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { rowsPerTurn } from '../../src/envs/rowsPerTurn.ts';
import type { Policy, PolicySpec } from '../../src/model/policy.ts';
import { rollout } from '../../src/rl/rollout.ts';
import { creditSettings, trainSampling } from '../../src/rl/settings.ts';
import { openChatTokenizer, stopIds } from '../../src/text/chatTokenizer.ts';
import { ODD } from '../model/policies.ts';

const FILES = import.meta.glob<string>('../../public/models/agent/*.j*', {
  query: '?raw',
  import: 'default',
  eager: true,
});
const shipped = (name: string) => FILES[`../../public/${TEXT_AGENT}/${name}`]!; // in Node and in a browser
const TOKENIZER = openChatTokenizer({
  tokenizer: shipped('tokenizer.json'),
  template: shipped('chat_template.jinja'),
  stops: stopIds(shipped('generation_config.json')),
});
const ROWS = 6;

/** The agent may only draw letters, blanks and what ends a turn: encoded again, many letters are fewer tokens. */
function spelling(env: ToolEnv): ToolEnv {
  const grammar = env.grammar(true);
  const next = grammar.next.slice();
  for (let i = 0; i < next.length; i++)
    if (!/^([a-z␣]|<.*>)$/.test(env.vocabulary[i % grammar.vocabulary]!)) next[i] = -1;
  const letters = { ...grammar, next };
  return { ...env, grammar: () => letters };
}

/** Number hunt in text, three turns of a network that spells: few tokens are what their text is encoded to. */
export function spellingHunt(knobs: Readonly<Record<string, unknown>>) {
  const config = parseConfig({
    ...PRESETS['number-hunt-text'].set,
    maxTurns: 3,
    prompts: ROWS,
    groupSize: 1,
    ...knobs,
  });
  const env = spelling(createEnv(config, null, TOKENIZER));
  const model = { ...ODD, vocab_size: env.vocabulary.length, hidden_size: 16, head_dim: 8, intermediate_size: 24 };
  const length = env.maxTokens * (config.rows === 'turn' ? 2 : 1);
  const spec: PolicySpec = { model, critic: 'none', rows: ROWS, length, minibatchRows: ROWS };
  const play = async (policy: Policy) => {
    const tasks = Array.from({ length: ROWS }, (_, seed) => ({ seed, environmentSeed: seed }));
    const groups = Int32Array.from(tasks.keys());
    const played = await rollout(
      policy,
      env,
      {
        ...{ tasks, groups, settings: envSettings(config), ...rowsPerTurn(config) },
        ...{ sampling: trainSampling(config, 3), chunk: config.decodeChunk },
      },
      () => Promise.resolve(),
    );
    await policy.score(config.temperature, { reference: false, values: false });
    policy.credit({ rewards: played.record.rewards, groups }, creditSettings(config, 0, 1));
    return { played, report: await policy.report(), codec: TOKENIZER.codec };
  };
  return { config, env, spec, play, tokenizer: TOKENIZER };
}

type Played = Awaited<ReturnType<ReturnType<typeof spellingHunt>['play']>>;

/**
 * Expects that turns were drawn after the encoded tokens of the turns before, and that the policy learns from the encoded
 * rows: the learner gives a drawn token the probability that it was drawn with, until a token of its turn drifted.
 */
export function expectDrawnAfterEncoded({ played: { record, episodes }, report, codec }: Played, tolerance: number) {
  const { rows, length, roles, turns, drifted, tokens, lengths } = record;
  let [alike, apart] = [0, 0]; // tokens of later turns; of turns, behind a drifted token
  for (let row = 0; row < rows; row++) {
    for (let at = row * length; at < (row + 1) * length; at++) {
      // the policy holds these rows, without rests of what was drawn: exactly the agent's tokens are in the loss
      expect(report.lossMask[at]).toBe(roles[at] === Role.action ? 1 : 0);
      if (roles[at] !== Role.action) continue;
      let start = at;
      while (turns[start - 1] === turns[at] && roles[start - 1] === Role.action) start--;
      const gap = Math.abs(report.logprobs[at]! - record.logprobs[at]!);
      if (drifted.subarray(start, at + 1).includes(1)) apart += Number(gap > 0.01);
      else {
        expect(gap).toBeLessThan(tolerance);
        if (turns[at]! > 1) alike++;
      }
    }
    const actions = Array.from({ length: lengths[row]! }, (_, t) => row * length + t).filter(
      (i) => roles[i] === Role.action,
    );
    for (let turn = 1; turn <= episodes[row]!.turns; turn++) {
      const ids = actions.filter((i) => turns[i] === turn).map((i) => tokens[i]!);
      expect(codec.encode(codec.decode(ids))).toEqual(ids);
    }
  }
  expect(alike).toBeGreaterThan(20);
  expect(apart).toBeGreaterThan(20);
}
