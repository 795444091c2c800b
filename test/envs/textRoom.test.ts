import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { TEXT_AGENT } from '../../src/config/textAgent.ts';
import { Role } from '../../src/domain/tokens.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { openEpisode, type Stepper, type EpisodeConditions } from '../../src/envs/stepper.ts';
import { openChatTokenizer, stopIds, type ChatTokenizer } from '../../src/text/chatTokenizer.ts';
import { BYTES, BYTES_FILES } from '../text/bytesTokenizer.ts';
import { SMOLLM2 } from '../text/templates.ts';

const shipped = (name: string) => readFileSync(`public/${TEXT_AGENT}/${name}`, 'utf8');
const TOKENIZERS: Readonly<Record<string, ChatTokenizer>> = {
  'the shipped tokenizer': openChatTokenizer({
    tokenizer: shipped('tokenizer.json'),
    template: shipped('chat_template.jinja'),
    stops: stopIds(shipped('generation_config.json')),
  }),
  'a byte a token': BYTES,
  'a template without a role for tools': openChatTokenizer({ ...BYTES_FILES, template: SMOLLM2 }),
};

const TEXT_PRESETS = Object.entries(PRESETS).filter(([, { set }]) => parseConfig(set).language === 'text');

function tableOf(name: string, chatTokenizer: ChatTokenizer, knobs = {}): EpisodeConditions {
  const [, { set }] = TEXT_PRESETS.find(([preset]) => preset === name)!;
  const config = parseConfig({ ...set, ...knobs });
  return { env: createEnv(config, null, chatTokenizer), settings: envSettings(config) };
}

// of three bytes and of four, one letter a token or none, and what templates write
const LETTERS = ['a', ' ?', '♞', '🜚', '<|im_start|>', '"'];
const call = (name: string, values: unknown) => `<tool_call>${JSON.stringify({ name, arguments: values })}</tool_call>`;

/** Turns that are wrong in all ways, as long as a turn may be and as long as it may not. */
function wrongTurns({ env }: EpisodeConditions): readonly string[] {
  const [tool] = env.tools;
  const long = LETTERS.flatMap((letter) => [7, 300].map((times) => letter.repeat(times)));
  const calls = long.flatMap((text) => [
    call(text, {}),
    call(tool!.name, { [text]: 1 }),
    call(tool!.name, { n: text, a: text, operator: text, entity: text, relation: text, query: text, b: text }),
    call(tool!.name, { n: 1e15, a: 1, operator: text, b: 1, entity: 'ada', relation: text }),
    `<tool_call>${text}</tool_call>`,
  ]);
  return ['', '<think>', '<tool_call>', '</tool_call>', ...long, ...calls];
}

/** Takes one turn: its ids and its end, as far as the turn may be. */
function say(stepper: Stepper, ids: readonly number[]): void {
  const { turn } = stepper;
  for (const id of ids) if (stepper.stop === null && stepper.turn === turn) stepper.take(id);
}

describe.each(TEXT_PRESETS.map(([name]) => name))('%s', (name) => {
  it.each(Object.keys(TOKENIZERS))('plays all its turns however badly each is played, in %s', (spoken) => {
    const chatTokenizer = TOKENIZERS[spoken]!;
    const { codec } = chatTokenizer;
    const table = tableOf(name, chatTokenizer, { invalidPenalty: 0.1 });
    const { maxTurns } = parseConfig(PRESETS[name as keyof typeof PRESETS].set);
    const stop = codec.stops[0]!;
    const turns = wrongTurns(table).map((text) => {
      const ids = codec.encode(text);
      return ids.length < table.env.maxTurnTokens ? [...ids, stop] : ids; // what does not fit is cut
    });
    const written = turns.map((ids) => {
      const stepper = openEpisode(table, { seed: 1, environmentSeed: 1 });
      const before = stepper.tokens.length;
      say(stepper, ids);
      return stepper.stop === null ? stepper.tokens.length - before : 0;
    });
    const worst = turns[written.indexOf(Math.max(...written))]!;
    const [longest] = [...turns].sort((a, b) => b.length - a.length);
    for (const ids of [worst, longest!]) {
      const stepper = openEpisode(table, { seed: 1, environmentSeed: 1 });
      for (let turn = 1; turn <= maxTurns; turn++) say(stepper, ids);
      expect(stepper.stop).toBe('turns');
      expect(stepper.finishedTurns.map(({ valid }) => valid)).toEqual(Array.from({ length: maxTurns }, () => false));
      expect(stepper.rewardSums.format).toBeCloseTo(-0.1 * maxTurns, 12);
      expect(stepper.tokens.length).toBeLessThanOrEqual(table.env.maxTokens);
    }
  });
});

it('an error repeats at most sixteen tokens of what the agent wrote', () => {
  const table = tableOf('search-text', BYTES);
  const errorOf = (entity: string) => {
    const stepper = openEpisode(
      { ...table, env: { ...table.env, maxTurnTokens: 4000 }, maxTokens: 8000 },
      { seed: 1, environmentSeed: 1 },
    );
    say(stepper, [...BYTES.codec.encode(call('search', { entity, relation: 'boss' })), BYTES.codec.stops[0]!]);
    const said = stepper.tokens.filter(({ role }) => role === Role.observation).map(({ token }) => token);
    return /got (.*) as entity/su.exec(BYTES.codec.decode(said))?.[1];
  };
  expect(errorOf('nobody')).toBe('nobody');
  expect(errorOf('n'.repeat(900))).toBe(`${'n'.repeat(13)}…`); // … is three bytes
  expect(errorOf('♞'.repeat(900))).toBe('♞♞♞♞…');
  expect(errorOf('♞'.repeat(10))).toBe('♞♞♞♞…'); // few letters, many tokens
});

it('a turn that is cut is a mistake though a call in it is whole, and the episode goes on', () => {
  const table = tableOf('number-hunt-text', BYTES, { invalidPenalty: 0.1 });
  const whole = call('compare', { n: 7 });
  const stepper = openEpisode(table, { seed: 1, environmentSeed: 1 });
  say(stepper, BYTES.codec.encode(whole.padEnd(300, ' ')));
  expect(stepper).toMatchObject({
    stop: null,
    finishedTurns: [{ valid: false, toolCall: false, parts: { format: -0.1 } }],
  });
});
