import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { ProblemError } from '../base/problem.ts';
import type { BaseMark } from '../domain/baseMark.ts';
import type { ByteSource } from '../formats/byteSource.ts';
import { ggufFiles } from '../base/ggufFiles.ts';
import type { ModelConfig } from '../model/architecture.ts';
import type { WeightSource } from '../model/weightSource.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { FILE_NAMES } from './checkpointFolder.ts';

/** An opened checkpoint that a run trains adapters for. Its headers have been read, its weights have not. */
export interface BaseCheckpoint {
  readonly mark: BaseMark;
  readonly model: ModelConfig; // without a value head
  readonly weights: WeightSource;
  readonly chatTokenizer: ChatTokenizer;
}

/** Thrown if none is open, or another one than the run began with. It has its own class so that the page can ask for the model. */
export class BaseNeededError extends ProblemError {
  override readonly name = 'BaseNeededError';
  readonly wanted: BaseMark | null; // the checkpoint that a continued run needs; null for a new run
  constructor(wanted: BaseMark | null, got: BaseMark | null) {
    const found = got ? ` ${got.name} (${fingerprintText(got)}) is another model.` : '';
    super(
      wanted
        ? `This run trains an adapter beside ${wanted.name} (${fingerprintText(wanted)}).${found} Open that GGUF file or folder.`
        : 'This task trains an adapter beside a language model. Open a GGUF file or a model folder under Models first.',
    );
    this.wanted = wanted;
  }
}

const fingerprintText = ({ sha256, whole, bytes }: BaseMark) =>
  `${(bytes / 1e6).toFixed(1)} MB, fingerprint ${(whole ?? sha256).slice(0, 12)}…`;

/**
 * Throws BaseNeededError unless `got` is the same checkpoint as `wanted`. The file's name doesn't matter. Every byte is
 * compared by its hash; for runs saved by an older version, only the hash of samples.
 */
export function checkBase(wanted: BaseMark, got: BaseMark | null): void {
  const same = got?.sha256 === wanted.sha256 && (wanted.whole === undefined || got.whole === wanted.whole);
  if (!same) throw new BaseNeededError(wanted, got);
}

// Only files with weights and files that a run reads count for the fingerprint.
const FINGERPRINTED_NAMES: readonly string[] = [FILE_NAMES.config, FILE_NAMES.generation, FILE_NAMES.index, FILE_NAMES.tokenizer, FILE_NAMES.tokenizerConfig, FILE_NAMES.template, FILE_NAMES.specialTokens, FILE_NAMES.addedTokens]; // prettier-ignore
const FINGERPRINTED_PATHS = /\.safetensors$|(^|\/)additional_chat_templates\/[^/]+\.jinja$/i;

/** The files of a checkpoint that a run reads, named without their folders. */
function filesReadByRun(
  files: readonly { readonly path: string; readonly source: ByteSource }[],
): readonly ByteSource[] {
  const gguf = ggufFiles(files);
  const nameOf = (path: string) => path.split('/').at(-1) ?? path;
  const folderFiles = files.filter(
    ({ path }) => FINGERPRINTED_NAMES.includes(nameOf(path)) || FINGERPRINTED_PATHS.test(path),
  );
  return (gguf.length > 0 ? gguf : folderFiles).map(({ path, source }) => ({ ...source, name: nameOf(path) }));
}

/**
 * The quick fingerprint (mark) of a GGUF file, or of the files of a folder that a run reads; `name` is for people.
 * Small files are read whole, large ones in samples, which takes milliseconds. That is enough to find a checkpoint, but
 * not to train adapters for it: see `fullMark`.
 */
export function quickMark(
  name: string,
  files: readonly { readonly path: string; readonly source: ByteSource }[],
): Promise<BaseMark> {
  return markFromSamples(name, filesReadByRun(files));
}

/** The fingerprint of `quickMark`, with the hash of every byte too. Takes some seconds per gigabyte. */
export async function fullMark(
  name: string,
  files: readonly { readonly path: string; readonly source: ByteSource }[],
): Promise<BaseMark> {
  return { ...(await quickMark(name, files)), whole: await hashOfEveryByte(filesReadByRun(files)) };
}

/** Number of bytes that are hashed at a time. */
const HASHED_PIECE_BYTES = 1 << 24;

/**
 * One SHA-256 over all files, sorted by name: for each file its name and size, then the SHA-256 of each 16 MiB of its
 * contents. The pieces are hashed by the browser's own function, which is many times faster but can't continue a hash.
 * The name of a single file is left out.
 */
async function hashOfEveryByte(files: readonly ByteSource[]): Promise<string> {
  const hash = sha256.create();
  for (const file of sortedByName(files)) {
    hash.update(nameAndSize(file, files));
    for (let begin = 0; begin < file.size; begin += HASHED_PIECE_BYTES) {
      hash.update(await digestOf(await file.read(begin, Math.min(file.size, begin + HASHED_PIECE_BYTES))));
    }
  }
  return bytesToHex(hash.digest());
}

/** SHA-256, computed by the browser if the page came over https (or from localhost). */
async function digestOf(bytes: Uint8Array): Promise<Uint8Array> {
  const subtle = (globalThis.crypto as Partial<Crypto> | undefined)?.subtle;
  return subtle ? new Uint8Array(await subtle.digest('SHA-256', bytes as BufferSource)) : sha256(bytes);
}

const sortedByName = (files: readonly ByteSource[]) => [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
const nameAndSize = ({ name, size }: ByteSource, files: readonly ByteSource[]) =>
  utf8ToBytes(`${files.length > 1 ? name : ''}\n${size}\n`);

/** Files up to this size are hashed whole, larger ones in samples. */
const MAX_WHOLE_BYTES = 1 << 22;
const SAMPLE_BYTES = 1 << 16;
/** Number of samples, not counting the one at the file's beginning. The last one is at or near the end. */
const SAMPLES = 32;

/** SHA-256 of the names, sizes and contents, by name. Of large files only samples count, so two checkpoints may have the same mark. */
async function markFromSamples(name: string, files: readonly ByteSource[]): Promise<BaseMark> {
  const hash = sha256.create();
  for (const file of sortedByName(files)) {
    hash.update(nameAndSize(file, files));
    for (const [begin, end] of sampledRanges(file.size)) hash.update(await file.read(begin, end));
  }
  return { name, sha256: bytesToHex(hash.digest()), bytes: files.reduce((sum, { size }) => sum + size, 0) };
}

function sampledRanges(size: number): readonly (readonly [number, number])[] {
  if (size <= MAX_WHOLE_BYTES) return [[0, size]];
  const step = Math.floor((size - SAMPLE_BYTES) / SAMPLES);
  return Array.from({ length: SAMPLES + 1 }, (_, i) => [i * step, i * step + SAMPLE_BYTES] as const);
}
