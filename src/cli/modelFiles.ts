import { existsSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { BaseCheckpoint } from '../checkpoints/baseCheckpoint.ts';
import type { ByteSource } from '../formats/byteSource.ts';
import { partNames } from '../base/ggufFiles.ts';
import { type FileInFolder, openBase } from '../speaking/textCheckpoint.ts';
import { callerPath, fileError } from './files.ts';

/**
 * Opens the checkpoint that `--model` names: a GGUF file or a folder of Transformers. Reads headers and tokenizer; the
 * weights are read when a run needs them. Throws ProblemError if a file can't be read or used; it names the file and
 * the place of what is wrong.
 */
export async function openModelFiles(modelPath: string): Promise<BaseCheckpoint> {
  const place = callerPath(modelPath);
  return openBase(path.basename(place), await placedSources(place));
}

async function placedSources(place: string): Promise<readonly FileInFolder[]> {
  try {
    const folder = (await stat(place)).isDirectory();
    const root = folder ? place : path.dirname(place);
    const paths = folder ? await filesIn(place) : partNames(path.basename(place)).filter((name) => existsSync(path.join(root, name))); // prettier-ignore
    return await Promise.all(
      paths.map(async (name) => ({ path: name, source: await diskByteSource(path.join(root, name)) })),
    );
  } catch (error) {
    throw fileError(place, 'read', error);
  }
}

/** The subfolder of a checkpoint's folder with additional chat templates. */
const TEMPLATES_FOLDER = 'additional_chat_templates';

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const inside = entries.some((entry) => entry.isDirectory() && entry.name === TEMPLATES_FOLDER);
  return [
    ...entries.filter((entry) => entry.isFile()).map(({ name }) => name),
    ...(inside
      ? (await readdir(path.join(folder, TEMPLATES_FOLDER))).map((name) => `${TEMPLATES_FOLDER}/${name}`)
      : []),
  ];
}

/** A file on the disk. It is opened anew for each slice, because no caller says when it has read the last one. */
async function diskByteSource(file: string): Promise<ByteSource> {
  const { size } = await stat(file);
  return {
    name: path.basename(file),
    size,
    read: async (begin, end) => {
      const bytes = new Uint8Array(end - begin);
      try {
        const handle = await open(file);
        try {
          for (let at = 0; at < bytes.length;) {
            const { bytesRead } = await handle.read(bytes, at, bytes.length - at, begin + at);
            if (bytesRead === 0) throw new Error(`it ends at byte ${begin + at}, before ${end}`);
            at += bytesRead;
          }
        } finally {
          await handle.close();
        }
      } catch (error) {
        throw fileError(file, 'read', error);
      }
      return bytes;
    },
  };
}
