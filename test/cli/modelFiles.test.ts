import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openModelFiles } from '../../src/cli/modelFiles.ts';
import { toolSchema } from '../../src/text/toolSchema.ts';
import { FOLDERS, placedFolder } from '../speaking/folderKinds.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'model-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a model on disk is read with the templates in the folder of their own', async () => {
  for (const { path: name, source } of placedFolder(FOLDERS['templates in additional_chat_templates']!)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, await source.read(0, source.size));
  }
  const { template } = (await openModelFiles(path.join(folder, 'm'))).chatTokenizer;
  const tool = toolSchema({ name: 'look', description: 'Looks.', parameters: [] });
  expect(template.write([{ role: 'user', content: 'One.' }], [tool], true)).toContain('- look {');
});

test('a split GGUF on disk is read by the name of any of its parts', async () => {
  for (const no of [1, 2, 3]) {
    const file = `test/fixtures/split-gguf/split-0000${no}-of-00003.gguf`;
    expect((await openModelFiles(path.resolve(file))).model.num_hidden_layers).toBe(2);
  }
});
