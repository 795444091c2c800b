import { describe, expect, it } from 'vitest';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { Role } from '../../src/domain/tokens.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { demonstrator, expertPlayer, playToEnd } from '../../src/envs/players.ts';
import { openEpisode, type Stepper, type EpisodeConditions } from '../../src/envs/stepper.ts';
import { openChatTokenizer, type ChatTokenizer } from '../../src/text/chatTokenizer.ts';
import { BYTES, BYTES_FILES } from '../text/bytesTokenizer.ts';
import { SMOLLM2 } from '../text/templates.ts';
import { factsFor } from './factFiles.ts';

const ENVS = ['number-hunt', 'multi-hop', 'world-facts', 'document-search', 'calculator'] as const;

function textTable(
  name: (typeof ENVS)[number],
  knobs: Readonly<Partial<RunConfig>> = {},
  chatTokenizer: ChatTokenizer = BYTES,
): EpisodeConditions {
  const config = parseConfig({ ...PRESETS[name].set, env: name, language: 'text', names: 'own', ...knobs });
  return { env: createEnv(config, factsFor(name), chatTokenizer), settings: envSettings(config) };
}

const textOf = ({ tokens: written }: Stepper, { codec }: ChatTokenizer = BYTES) =>
  codec.decode(written.map(({ token }) => token));

/** Plays texts as turns, each with its stop id unless it is left out. */
function played(table: EpisodeConditions, seed: number, turns: readonly string[], stop = '<|im_end|>'): Stepper {
  const stepper = openEpisode(table, { seed, environmentSeed: seed });
  for (const turn of turns)
    for (const id of BYTES.codec.encode(`${turn}${stop}`)) if (stepper.stop === null) stepper.take(id);
  return stepper;
}

/** What the environment said after the last turn. */
function said(stepper: Stepper): string {
  const last = stepper.tokens.filter(({ role, turn }) => role === Role.observation && turn === stepper.turn - 1);
  return BYTES.codec.decode(last.map(({ token }) => token));
}

describe.each(ENVS)('%s in text', (name) => {
  it('is solved by its expert as often as in words: the face loses nothing between words and text', () => {
    const table = textTable(name);
    const config = parseConfig({ ...PRESETS[name].set, env: name });
    const words = { env: createEnv(config, factsFor(name)), settings: envSettings(config) };
    for (let seed = 0; seed < 24; seed++) {
      const text = playToEnd(openEpisode(table, { seed, environmentSeed: seed }), expertPlayer);
      const plain = playToEnd(openEpisode(words, { seed, environmentSeed: seed }), expertPlayer);
      expect([seed, text.success, text.turn]).toEqual([seed, plain.success, plain.turn]);
      expect(text.finishedTurns.every(({ valid }) => valid)).toBe(true);
    }
  });

  it('is played by an imperfect demonstrator in turns that are well formed, and within the room it asks for', () => {
    const table = textTable(name);
    let solved = 0;
    for (let seed = 0; seed < 24; seed++) {
      const stepper = playToEnd(
        openEpisode(table, { seed, environmentSeed: seed }),
        demonstrator(0.5, random(7, Purpose.demonstration, seed)),
      );
      expect(stepper.finishedTurns.every(({ valid }) => valid)).toBe(true);
      expect(stepper.stop).not.toBe('tokens');
      solved += stepper.success ? 1 : 0;
    }
    expect(solved).toBeLessThan(24);
  });

  it('reads as its transcript does, word for word, and the longest turn fits', async () => {
    const table = textTable(name);
    const stepper = playToEnd(openEpisode(table, { seed: 3, environmentSeed: 3 }), expertPlayer);
    await expect(textOf(stepper)).toMatchFileSnapshot(`transcripts/text-${name}.txt`);
  });

  it('speaks through a template without tools or a role for them', () => {
    const chatTokenizer = openChatTokenizer({ ...BYTES_FILES, template: SMOLLM2 });
    const table = textTable(name, {}, chatTokenizer);
    const stepper = playToEnd(openEpisode(table, { seed: 5, environmentSeed: 5 }), expertPlayer);
    expect(stepper.finishedTurns.every(({ valid }) => valid)).toBe(true);
    expect(textOf(stepper, chatTokenizer)).toContain('<tools>');
  });

  it('is asked by naive RAG, where there is such a thing, with what was found before the first turn', () => {
    const table = textTable(name);
    const { naiveRag: retrieved } = table.env;
    if (!retrieved) return;
    const stepper = playToEnd(
      openEpisode({ ...table, begin: retrieved }, { seed: 1, environmentSeed: 1 }),
      expertPlayer,
    );
    expect(stepper.turn).toBe(1);
    expect(stepper.tokens.filter(({ role }) => role === Role.prompt).length).toBeGreaterThan(0);
    expect(textOf(stepper)).toContain('</tool_call><|im_end|>\n<|im_start|>tool\n');
  });
});

const call = (name: string, values: unknown) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: values })}\n</tool_call>`;

describe('a mistake in text is answered by what is wrong and costs the format penalty', () => {
  const cases: readonly (readonly [(typeof ENVS)[number], string, string])[] = [
    ['number-hunt', '<tool_call>\n{"name": "compare"\n</tool_call>', 'error: got a call that is not JSON'],
    ['number-hunt', call('guess', { n: 3 }), 'error: got the tool guess; want compare'],
    ['number-hunt', call('compare', {}), 'error: got no argument n of compare'],
    ['number-hunt', call('compare', { n: '3' }), 'error: got 3 as n of compare; want a whole number'],
    ['number-hunt', call('compare', { n: 16 }), 'error: got 16 as n; want 0 to 15'],
    ['number-hunt', call('compare', { n: -1 }), 'error: got -1 as n; want 0 to 15'],
    ['number-hunt', '7', 'error: got no call; want a call of compare'],
    ['calculator', 'It is many.', 'error: got an answer that is no number'],
    ['calculator', '100', 'error: got 100 as the answer; want 0 to 99'],
    ['calculator', call('calculate', { a: 120, operator: '+', b: 1 }), 'error: got 120 as a; want 0 to 99'],
    [
      'calculator',
      call('calculate', { a: 12, operator: '/', b: 1 }),
      'error: got / as operator of calculate; want one of +, -, *',
    ],
    [
      'multi-hop',
      call('search', { entity: 'ada', relation: 'mother' }),
      'error: got mother as relation; want one of boss, friend, teacher',
    ],
    ['multi-hop', 'nobody', 'error: got nobody as the answer; want such as ada, ben'],
    ['document-search', call('search', { query: '' }), 'error: got 0 words as query; want 1 to 6'],
  ];
  it.each(cases)('%s: %s', (name, turn, want) => {
    const table = textTable(name, { invalidPenalty: 0.1 });
    const stepper = played(table, 4, [turn]);
    expect(said(stepper)).toContain(want);
    expect(stepper.finishedTurns[0]).toMatchObject({ valid: false, toolCall: false });
    expect(stepper.rewardSums.format).toBe(-0.1);
    expect(stepper.stop).toBeNull();
  });
});

describe('a turn in text', () => {
  it('that is cut at its budget is ended for the agent, once, and is a mistake', () => {
    const table = textTable('number-hunt');
    const stepper = played(table, 4, ['a'.repeat(table.env.maxTurnTokens)], '');
    expect(stepper.finishedTurns).toHaveLength(1);
    expect(stepper.finishedTurns[0]?.valid).toBe(false);
    expect(said(stepper)).toMatch(/^<\|im_end\|>\n<\|im_start\|>tool\n/);
  });

  it('takes names in any case, and a number as people write it', () => {
    const stepper = played(textTable('multi-hop'), 4, [call('search', { entity: ' Ada ', relation: 'BOSS' })]);
    expect(stepper.finishedTurns[0]?.valid).toBe(true);
    expect(said(stepper)).toMatch(/The boss of ada is \w+\./);
    const sum = played(textTable('calculator'), 4, [call('calculate', { a: 5, operator: '*', b: 7 })]);
    expect(said(sum)).toContain('tool\n35<|im_end|>');
  });

  it('draws no id that its tokenizer does not know, where the model has rows for more', () => {
    const { env } = textTable('number-hunt', {}, { ...BYTES, embeddingRows: 300 });
    const { next, vocabulary } = env.grammar(true);
    expect([env.vocabulary.length, vocabulary]).toEqual([300, 300]);
    const legal = Array.from(next.slice(vocabulary, 2 * vocabulary)).flatMap((to, id) => (to >= 0 ? [id] : []));
    expect(legal).toEqual(Array.from({ length: BYTES.codec.size }, (_, id) => id));
  });
});
