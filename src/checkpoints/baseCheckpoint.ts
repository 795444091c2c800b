import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { ProblemError } from '../base/problem.ts';
import type { BaseMark } from '../domain/baseMark.ts';
import type { ByteSource } from '../formats/byteSource.ts';
import { ggufFiles } from '../base/ggufFiles.ts';
import type { ModelConfig } from '../model/architecture.ts';
import type { WeightSource } from '../model/weightSource.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { FILES } from './checkpointFolder.ts';

/** A checkpoint that a run puts adapters beside, opened: its headers are read, its weights are not. */
export interface BaseCheckpoint {
  readonly mark: BaseMark;
  readonly model: ModelConfig; // without a value head
  readonly weights: WeightSource;
  readonly chatTokenizer: ChatTokenizer;
}

/** A run needs a checkpoint that is not open, or the open one is not the one it began with. A class of its own: the page then asks for the model. */
export class BaseNeededError extends ProblemError {
  override readonly name = 'BaseNeededError';
  readonly wanted: BaseMark | null; // of a run that is continued; null for a new run
  constructor(wanted: BaseMark | null, got: BaseMark | null) {
    const found = got ? ` ${got.name} (${short(got)}) is another model.` : '';
    super(
      wanted
        ? `This run trains an adapter beside ${wanted.name} (${short(wanted)}).${found} Open that GGUF file or folder.`
        : 'This task trains an adapter beside a language model. Open a GGUF file or a model folder under Models first.',
    );
    this.wanted = wanted;
  }
}

const short = ({ sha256, whole, bytes }: BaseMark) =>
  `${(bytes / 1e6).toFixed(1)} MB, fingerprint ${(whole ?? sha256).slice(0, 12)}…`;

/**
 * Throws BaseNeededError unless `got` is the checkpoint of `wanted`, whatever its file is called now. Every byte counts; of a run that an older
 * version saved, only the samples that it took.
 */
export function checkBase(wanted: BaseMark, got: BaseMark | null): void {
  const same = got?.sha256 === wanted.sha256 && (wanted.whole === undefined || got.whole === wanted.whole);
  if (!same) throw new BaseNeededError(wanted, got);
}

// What is neither weights nor read by a run does not make it another checkpoint.
const READ: readonly string[] = [FILES.config, FILES.generation, FILES.index, FILES.tokenizer, FILES.tokenizerConfig, FILES.template, FILES.specialTokens, FILES.addedTokens]; // prettier-ignore
const OTHERS = /\.safetensors$|(^|\/)additional_chat_templates\/[^/]+\.jinja$/i;

/** Files that a run reads of a checkpoint's, without their folders. */
function readBy(files: readonly { readonly path: string; readonly source: ByteSource }[]): readonly ByteSource[] {
  const gguf = ggufFiles(files);
  const nameOf = (path: string) => path.split('/').at(-1) ?? path;
  const parts = files.filter(({ path }) => READ.includes(nameOf(path)) || OTHERS.test(path));
  return (gguf.length > 0 ? gguf : parts).map(({ path, source }) => ({ ...source, name: nameOf(path) }));
}

/**
 * The fingerprint of a GGUF file, or of the files of a folder that a run reads; `name` is shown to people. It reads headers and
 * samples only, which takes milliseconds: enough to find a checkpoint, not enough to train beside it.
 */
export function sampledMark(
  name: string,
  files: readonly { readonly path: string; readonly source: ByteSource }[],
): Promise<BaseMark> {
  return baseMark(name, readBy(files));
}

/** The same with the hash of every byte: some seconds a gigabyte. */
export async function markOf(
  name: string,
  files: readonly { readonly path: string; readonly source: ByteSource }[],
): Promise<BaseMark> {
  return { ...(await sampledMark(name, files)), whole: await wholeMark(readBy(files)) };
}

/** Bytes that are hashed at once. */
const PIECE = 1 << 24;

/**
 * SHA-256 of the files' names and sizes and of the SHA-256 of each 16 MiB of their contents, in the order of their names: pieces are hashed by the
 * browser itself, many times as fast as a hash that goes on from piece to piece. The name of a file that is alone does not count.
 */
async function wholeMark(files: readonly ByteSource[]): Promise<string> {
  const hash = sha256.create();
  for (const file of inOrder(files)) {
    hash.update(headOf(file, files));
    for (let begin = 0; begin < file.size; begin += PIECE) {
      hash.update(await digestOf(await file.read(begin, Math.min(file.size, begin + PIECE))));
    }
  }
  return bytesToHex(hash.digest());
}

/** SHA-256, by the browser where the page came over https. */
async function digestOf(bytes: Uint8Array): Promise<Uint8Array> {
  const subtle = (globalThis.crypto as Partial<Crypto> | undefined)?.subtle;
  return subtle ? new Uint8Array(await subtle.digest('SHA-256', bytes as BufferSource)) : sha256(bytes);
}

const inOrder = (files: readonly ByteSource[]) => [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
const headOf = ({ name, size }: ByteSource, files: readonly ByteSource[]) =>
  utf8ToBytes(`${files.length > 1 ? name : ''}\n${size}\n`);

/** Files up to this size are read whole; of larger ones the first SAMPLE bytes and as many at each of PLACES places. */
const WHOLE = 1 << 22;
const SAMPLE = 1 << 16;
const PLACES = 32;

/**
 * Names a checkpoint by the SHA-256 of its files' names, sizes and contents, in the order of their names; of large files by headers and samples of their
 * weights. Two checkpoints may have the same one.
 */
async function baseMark(name: string, files: readonly ByteSource[]): Promise<BaseMark> {
  const hash = sha256.create();
  for (const file of inOrder(files)) {
    hash.update(headOf(file, files));
    for (const [begin, end] of sampled(file.size)) hash.update(await file.read(begin, end));
  }
  return { name, sha256: bytesToHex(hash.digest()), bytes: files.reduce((sum, { size }) => sum + size, 0) };
}

function sampled(size: number): readonly (readonly [number, number])[] {
  if (size <= WHOLE) return [[0, size]];
  const step = Math.floor((size - SAMPLE) / PLACES);
  return Array.from({ length: PLACES + 1 }, (_, i) => [i * step, i * step + SAMPLE] as const);
}
