// Writes folders of every kind that says something about prompts, and the ids that this project makes of 200 conversations in each.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openTextCheckpoint } from '../../../src/speaking/textCheckpoint.ts';
import { FOLDERS, placedFolder, TALKS } from '../../speaking/folderKinds.ts';

const out = process.argv[2] ?? '.';
writeFileSync(path.join(out, 'talks.json'), JSON.stringify(TALKS));
for (const [kind, texts] of Object.entries(FOLDERS)) {
  const folder = path.join(out, kind);
  for (const [name, text] of Object.entries(texts)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const { codec, template } = await openTextCheckpoint(placedFolder(texts));
  if (!template) throw new Error(`${kind} has no template.`);
  const ids = TALKS.map(({ messages, tools, asks }) => codec.encode(template.write(messages, tools, asks)));
  writeFileSync(path.join(out, `${kind}.ids.json`), JSON.stringify(ids));
}
