import { describe, expect, test } from 'vitest';
import { bytesInMemory } from '../../src/formats/byteSource.ts';
import { Role } from '../../src/domain/tokens.ts';
import { openCpuTextModel } from '../../src/model/cpu/cpuTextModel.ts';
import { Conversation, chatOf } from '../../src/speaking/conversation.ts';
import { memoryPlan, openReadingModel } from '../../src/speaking/readingModel.ts';
import { openTextCheckpoint, modelCard } from '../../src/speaking/textCheckpoint.ts';
import { Writer } from '../../src/speaking/writer.ts';
import type { SpokenToken, WriteOptions } from '../../src/wire/speakerMessages.ts';
import { text } from '../formats/gguf.ts';
import { fixture } from '../weights/fixtures.ts';
import { TINY, tinyGguf } from './tinyGguf.ts';

const placed = (path: string, bytes: Uint8Array) => ({ path, source: bytesInMemory(path, bytes) });
const tiny = (replaced = {}) => openTextCheckpoint([placed('tiny.gguf', tinyGguf(replaced))]);
const WRITING: WriteOptions = {
  sampling: { temperature: 1, topK: 0, topP: 1, greedy: false },
  steps: 12,
  seed: 3,
};

/** A conversation with the tiny model, and all it told. */
async function conversing(length = 200) {
  const checkpoint = await tiny();
  const plan = await memoryPlan(checkpoint, { length, engine: null }, undefined);
  const model = await openReadingModel(
    checkpoint,
    plan,
    { gpu: undefined },
    {
      onRead: () => undefined,
      onLost: () => undefined,
    },
  );
  const writer = new Writer(model, checkpoint.codec);
  const told: SpokenToken[] = [];
  const onWrote = (from: number, tokens: readonly SpokenToken[]) => {
    told.length = from;
    told.push(...tokens);
    return Promise.resolve(true);
  };
  const chat = chatOf(checkpoint.codec, checkpoint.template);
  return { checkpoint, writer, model, told, onWrote, conversation: new Conversation(writer, chat) };
}

describe('a checkpoint that is looked at', () => {
  test('its card says what its headers say, and the bytes of its weights by format', async () => {
    const file = placed('tiny.gguf', tinyGguf());
    const card = modelCard(await openTextCheckpoint([file]), 'tiny.gguf', [file]);
    expect(card).toMatchObject({
      ...{ title: 'tiny.gguf', name: 'Tiny', license: 'mit', architecture: 'Llama', layers: 1, width: 32, heads: 4 },
      ...{ kvHeads: 2, vocabulary: TINY.vocab_size, tokens: TINY.vocab_size, tokenizer: 'byte-level BPE' },
      ...{ context: 2048, template: 'no tools' },
    });
    expect(card.weights).toEqual([{ purpose: 'F32', bytes: 4 * card.parameters }]);
  });

  test('a folder is opened with its tokenizer, stops and template, wherever in the drop it lies', async () => {
    const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
    const { default: tokenizer } = await import('../text/fixtures/qwen.json');
    const files = [
      placed('out/m/tokenizer.json', json(tokenizer)),
      placed('out/m/config.json', fixture('qwen2/config.json')),
      placed('out/m/model.safetensors', fixture('qwen2/model.safetensors')),
      placed('out/m/generation_config.json', json({ eos_token_id: [2, 1] })),
      placed(
        'out/m/tokenizer_config.json',
        json({ chat_template: '{% for m in messages %}{{ m.content }}\n{% endfor %}' }),
      ),
      placed('out/m/README.md', new TextEncoder().encode('---\nlicense: apache-2.0\n---\n# M')),
    ];
    // the fixture's tokenizer knows more tokens than its model has rows: refused by the count, as any that do not belong together
    await expect(openTextCheckpoint(files)).rejects.toThrow(
      /tokenizer\.json: vocabulary: found \d+ tokens, expected at most \d+/,
    );
    await expect(openTextCheckpoint(files.slice(1))).rejects.toThrow(/tokenizer\.json: there is no such file/);
    await expect(openTextCheckpoint([placed('a.bin', new Uint8Array(64))])).rejects.toThrow(/a\.bin: magic: found 0x0/);
  });

  test('a template that is no Jinja, and a tokenizer of another kind, are refused by name and place', async () => {
    await expect(tiny({ 'tokenizer.chat_template': text('{% if %}') })).rejects.toThrow(
      /tiny\.gguf: found .*, expected a Jinja template/,
    );
    await expect(tiny({ 'tokenizer.ggml.model': text('llama') })).rejects.toThrow(
      /tokenizer\.ggml\.model: found llama, expected gpt2/,
    );
  });

  test('what is planned is what is allocated, and what cannot be is refused with a length that can', async () => {
    const { checkpoint, model } = await conversing();
    const plan = await memoryPlan(checkpoint, { length: 200, engine: null }, undefined);
    expect(model.memory).toEqual(plan.parts);
    expect(plan).toMatchObject({ engine: 'cpu', engines: ['cpu'], refusal: null });
    // a cache of 2 · 32 · 1 numbers a token: 4 GiB are over at 2^25 tokens
    const refused = await memoryPlan(checkpoint, { length: 2 ** 26, engine: null }, undefined);
    expect(refused.refusal).toMatchObject({ remedy: 'Texts of up to 32,768 tokens fit.' });
    await expect(
      openReadingModel(checkpoint, refused, { gpu: undefined }, { onRead: () => undefined, onLost: () => undefined }),
    ).rejects.toThrow(/GiB/);
  });
});

describe('a conversation', () => {
  test('is what the template writes, then what was drawn; what was drawn is never encoded anew', async () => {
    const { checkpoint, writer, told, onWrote, conversation } = await conversing();
    expect(await conversation.say('Be brief.', 'the cat', WRITING, onWrote)).toMatch(/turn|steps/);
    const own = told.filter(({ role }) => role === Role.action);
    const forced = told.filter(({ role }) => role === Role.prompt);
    expect(checkpoint.codec.decode(forced.map(({ id }) => id))).toBe(
      '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nthe cat<|im_end|>\n<|im_start|>assistant\n',
    );
    expect(own.length).toBeGreaterThan(0);
    const before = told.map(({ id }) => id);
    await conversation.say('', 'the dog', WRITING, onWrote);
    expect(told.slice(0, before.length).map(({ id }) => id)).toEqual(before);
    const stopped = own.at(-1)?.id === checkpoint.codec.stops[0];
    const second = told.filter(({ role, turn }) => role === Role.prompt && turn === 1);
    expect(checkpoint.codec.decode(second.map(({ id }) => id))).toBe(
      `${stopped ? '' : '<|im_end|>'}\n<|im_start|>user\nthe dog<|im_end|>\n<|im_start|>assistant\n`,
    );
    expect(told).toEqual(writer.written);
    expect(told.map((token) => token.text).join('')).toContain('the dog');
  });

  test('each drawn token has what could have stood there: what the model says of the text before it', async () => {
    const { checkpoint, told, onWrote, conversation } = await conversing();
    await conversation.say('', 'the', WRITING, onWrote);
    const { model, weights } = checkpoint.opened;
    const fresh = await openCpuTextModel(model, weights, { rows: 1, length: 200 });
    const at = told.findIndex(({ role }) => role === Role.action) + 2;
    await fresh.begin([told.slice(0, at).map(({ id }) => id)]);
    const [likely] = await fresh.likeliest([0], 20);
    expect(told[at]?.likely?.map(({ id }) => id)).toEqual(likely?.ids);
    told[at]?.likely?.forEach(({ logprob }, i) => expect(logprob).toBeCloseTo(likely?.logprobs[i] ?? NaN, 4)); // sums of f32 in another order
    const [scored] = await fresh.score(0, [told[at]?.id ?? 0]);
    expect(told[at]?.logprob).toBeCloseTo(scored ?? NaN, 4);
  });

  test('equal seeds draw equal text, others other text; another token at a place leaves what was before it and goes on', async () => {
    const first = await conversing();
    await first.conversation.say('', 'the', WRITING, first.onWrote);
    const second = await conversing();
    await second.conversation.say('', 'the', WRITING, second.onWrote);
    expect(second.told).toEqual(first.told);
    const third = await conversing();
    await third.conversation.say('', 'the', { ...WRITING, seed: 4 }, third.onWrote);
    expect(third.told).not.toEqual(first.told);
    const at = first.told.findIndex(({ role }) => role === Role.action) + 1;
    const kept = first.told.slice(0, at).map(({ id }) => id);
    await first.conversation.replaceToken(at, 65, WRITING, first.onWrote);
    expect(first.told.slice(0, at).map(({ id }) => id)).toEqual(kept);
    expect(first.told[at]).toMatchObject({ id: 65, role: Role.action });
    expect(first.told.length).toBeGreaterThan(at + 1);
    expect(first.told).toEqual(first.writer.written);
    await expect(first.conversation.replaceToken(0, 65, WRITING, first.onWrote)).rejects.toThrow(
      /Token 0 isn’t one that the model drew/,
    );
  });

  test('words that do not fit are refused and change nothing; a text that is full says so', async () => {
    const { writer, onWrote, conversation } = await conversing(130);
    await expect(conversation.say('', 'x'.repeat(200), WRITING, onWrote)).rejects.toThrow(
      /tokens, and \d+ more don’t fit: the limit is 130/,
    );
    expect(writer.written).toEqual([]);
    expect(await conversation.say('', 'the', { ...WRITING, steps: 500 }, onWrote)).toMatch(/turn|full/);
    expect(writer.written.length).toBeLessThanOrEqual(130);
  });

  test('it ends where it is told to', async () => {
    const { told, conversation } = await conversing();
    let own = 0;
    const why = await conversation.say('', 'the', { ...WRITING, steps: 100 }, (from, tokens) => {
      told.length = from;
      told.push(...tokens);
      if (tokens[0]?.role === Role.action) own++;
      return Promise.resolve(own < 3);
    });
    expect([why, own]).toEqual(['stopped', 3]);
  });
});
