import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bytesInMemory } from '../../src/formats/byteSource.ts';
import { openTextCheckpoint } from '../../src/speaking/textCheckpoint.ts';
import { toolSchema } from '../../src/text/toolSchema.ts';
import { text } from '../formats/gguf.ts';
import { FOLDERS, type FolderTexts, placedFolder, TALKS } from './folderKinds.ts';
import { tinyGguf } from './tinyGguf.ts';

/** Ids that Transformers gives, by kind and conversation: test/python/test_folders.py wrote them, and compares all 200. */
const WANTED = JSON.parse(readFileSync(new URL('folderIds.json', import.meta.url), 'utf8')) as Record<
  string,
  Record<string, number[]>
>;
const TOOL = toolSchema({ name: 'look', description: 'Looks.', parameters: ['place'] });
const ASKED = [{ role: 'user', content: 'One.' }];
const opened = (texts: FolderTexts) => openTextCheckpoint(placedFolder(texts));
const other = (files: FolderTexts) => opened({ ...FOLDERS['plain'], ...files });

test.each(Object.entries(FOLDERS))('%s: prompts have the ids of apply_chat_template', async (kind, texts) => {
  const { codec, template } = await opened(texts);
  const chosen = Object.entries(WANTED[kind]!);
  expect(chosen).toHaveLength(2);
  for (const [index, ids] of chosen) {
    const { messages, tools, asks } = TALKS[Number(index)]!;
    expect(codec.encode(template!.write(messages, tools, asks))).toEqual(ids);
  }
});

describe('templates by name', () => {
  test('one for tools writes the tools, and knows what is said of the template', async () => {
    const { template } = await opened(FOLDERS['templates by name in a list']!);
    expect(template).toMatchObject({ listsTools: true });
    expect(template!.write(ASKED, [TOOL], true)).toContain('- look {');
    expect(template!.write(ASKED, null, true)).not.toContain('Tools:');
  });

  test('without a default a conversation without tools is refused, as in Transformers; with tools it is written', async () => {
    const { 'chat_template.jinja': plain, ...rest } = FOLDERS['plain']!;
    const { template } = await opened({ ...rest, 'additional_chat_templates/tool_use.jinja': plain! });
    expect(template!.write(ASKED, [TOOL], true)).toContain('One.');
    expect(() => template!.write(ASKED, null, true)).toThrow(/additional_chat_templates\/: found only a template for .*, expected a template named default/); // prettier-ignore
  });

  test('a GGUF file may have them too', async () => {
    const write = "{% for m in messages %}{{ m.role + ':' + m.content }}{% endfor %}";
    const file = tinyGguf({
      'tokenizer.chat_template': text(write),
      'tokenizer.chat_template.tool_use': text(`{{ bos_token }}{% for t in tools %}{{ t.function.name }}{% endfor %}|${write}`), // prettier-ignore
      'tokenizer.ggml.bos_token_id': { type: 4, value: 65 },
    });
    const { template, codec } = await openTextCheckpoint([{ path: 'a.gguf', source: bytesInMemory('a.gguf', file) }]);
    expect(template!.write(ASKED, null, true)).toBe('user:One.');
    expect(template!.write(ASKED, [TOOL], true)).toBe(`${codec.decode([65])}look|user:One.`);
  });
});

test('thoughts are read by a template under both names, and what is null is not there', async () => {
  const { template } = await other({
    'chat_template.jinja': '{% for m in messages %}{{ m.content }}{{ m.thinking }}{{ m.reasoning_content }}{{ m.name is defined }}{% endfor %}', // prettier-ignore
  });
  expect(template!.write([{ role: 'user', content: 'a', ...{ reasoning: 'b', name: null } }], null, false)).toBe('abbFalse'); // prettier-ignore
});

test('a token that side files name and no row of the embedding is for stays plain letters, which is said', async () => {
  const extra = Array.from({ length: 20 }, (_, i) => `<extra ${i}>`);
  const { codec, opened: model } = await other({
    'tokenizer_config.json': JSON.stringify({ additional_special_tokens: extra }),
  });
  expect([codec.id('<extra 13>'), codec.id('<extra 14>')]).toEqual([1039, null]);
  expect(model.remarks).toEqual([expect.stringMatching(/^<extra 14> and 5 more: .* no row/)]);
});

test('what is not UTF-8 or not a token that is found anywhere is refused by file and place', async () => {
  const odd = { content: '<x>', lstrip: true };
  await expect(
    other({ 'tokenizer_config.json': JSON.stringify({ added_tokens_decoder: { 7: odd } }) }),
  ).rejects.toThrow(/^tokenizer_config\.json: added_tokens_decoder, 7\.lstrip: found true, for <x>/);
  const files = placedFolder(FOLDERS['plain']!).map(({ path, source }) =>
    path.endsWith('.jinja') ? { path, source: bytesInMemory(path, Uint8Array.of(0x7b, 0xff)) } : { path, source },
  );
  await expect(openTextCheckpoint(files)).rejects.toThrow(/^chat_template\.jinja: found bytes that are not UTF-8/);
});
