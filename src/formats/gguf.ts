import { GGML_FORMATS } from './blocks/blockFormats.ts';
import type { ByteSource } from './byteSource.ts';
import { type GgufHeader, readGgufHeader } from './ggufHeader.ts';
import type { PackedTensor } from './packedTensor.ts';
import { type Problem, ProblemError } from '../base/problem.ts';
import { MAX_PARTS, partNames } from '../base/ggufFiles.ts';

/** A GGUF file, or all parts of a split one, with its headers read. */
export interface Gguf {
  readonly source: ByteSource; // the file that `header` is from
  readonly header: GgufHeader; // of the first part, which has the metadata
  readonly tensors: ReadonlyMap<string, PackedTensor>; // by GGUF name, in the file's order
}

const REMEDY = 'Choose a file in one of these types, or convert it with llama-quantize.';

/** ggml's names of common types that can't be read here, by number. */
const UNSUPPORTED_TYPES: Readonly<Record<number, string>> = {
  ...{
    9: 'Q8_1',
    10: 'Q2_K',
    11: 'Q3_K',
    12: 'Q4_K',
    13: 'Q5_K',
    15: 'Q8_K',
    16: 'IQ2_XXS',
    17: 'IQ2_XS',
    18: 'IQ3_XXS',
  },
  ...{ 19: 'IQ1_S', 20: 'IQ4_NL', 21: 'IQ3_S', 22: 'IQ2_S', 23: 'IQ4_XS', 24: 'I8', 25: 'I16', 26: 'I32', 27: 'I64' },
  ...{ 28: 'F64', 29: 'IQ1_M', 34: 'TQ1_0', 35: 'TQ2_0', 39: 'MXFP4' },
};

/**
 * Opens a GGUF file by reading its header. If the model is split, `otherSources` are the parts besides `source`. Throws
 * ProblemError as `readParts` does. It also throws ProblemError, with a list of all bad tensors, if tensors have an
 * unsupported type, have rows that are not whole blocks, overlap, or end outside the file.
 */
export async function openGguf(source: ByteSource, otherSources: readonly ByteSource[] = []): Promise<Gguf> {
  const parts = await readParts(source, otherSources);
  const problems: Problem[] = [];
  const tensors = new Map<string, PackedTensor>();
  for (const part of parts) for (const [name, tensor] of tensorsOf(part, problems)) tensors.set(name, tensor);
  const [first] = parts;
  if (!first || problems.length > 0) throw new ProblemError(problems);
  return { ...first, tensors };
}

/** The tensors of one file. Adds what is wrong with them to `problems`. */
function tensorsOf({ source, header }: GgufPart, problems: Problem[]): ReadonlyMap<string, PackedTensor> {
  const report = (place: string, got: string, want: string, remedy = REMEDY) => {
    problems.push({ file: source.name, place, got, want, remedy });
  };
  const tensors = new Map<string, PackedTensor>();
  for (const info of header.tensors.values()) {
    const format = GGML_FORMATS.get(info.type);
    const [rowWeights = 1] = info.shape; // the fastest dimension
    if (!format) {
      const type = UNSUPPORTED_TYPES[info.type] ?? `number ${info.type}`;
      report(info.name, `type ${type}`, [...GGML_FORMATS.values()].map(({ name }) => name).join(', '));
    } else if (rowWeights % format.blockWeights !== 0) {
      report(
        info.name,
        `rows of ${rowWeights} weights`,
        `a multiple of ${format.blockWeights}, the block size of ${format.name}`,
      );
    } else {
      const bytes = (info.shape.reduce((a, b) => a * b, 1) / format.blockWeights) * format.blockBytes;
      const begin = header.dataStart + info.offset;
      tensors.set(info.name, { name: info.name, shape: info.shape.toReversed(), format, source, begin, bytes });
    }
  }
  checkRanges(tensors, source.size, (place, got, want) => report(place, got, want, 'Fetch or export the file anew.'));
  return tensors;
}

/** Reports tensors that overlap or end outside the file. */
function checkRanges(
  tensors: ReadonlyMap<string, PackedTensor>,
  size: number,
  report: (place: string, got: string, want: string) => void,
): void {
  let previous: PackedTensor | null = null;
  for (const tensor of [...tensors.values()].sort((a, b) => a.begin - b.begin)) {
    const end = tensor.begin + tensor.bytes;
    if (end > size) {
      const got = `bytes ${tensor.begin} to ${end} of a file of ${size}`;
      report(tensor.name, got, 'a tensor inside the file; it may have been cut off');
    } else if (previous && tensor.begin < previous.begin + previous.bytes) {
      const previousEnd = previous.begin + previous.bytes;
      report(
        tensor.name,
        `its first byte at ${tensor.begin}`,
        `it after ${previous.name}, which ends at byte ${previousEnd}`,
      );
    }
    previous = tensor;
  }
}

interface GgufPart {
  readonly source: ByteSource;
  readonly header: GgufHeader;
}

/**
 * Reads the headers of a model's files: of `source` alone, or of all parts that llama-gguf-split wrote. The part with
 * the metadata comes first. Throws ProblemError as `readGgufHeader` does. If parts are missing, the error has their
 * names and says how to join them.
 */
async function readParts(source: ByteSource, otherSources: readonly ByteSource[]): Promise<readonly GgufPart[]> {
  const header = await readGgufHeader(source);
  const count = wholeNumberKey(header, 'split.count') ?? 1;
  if (count <= 1) return [{ source, header }];
  const partByNumber = new Array<GgufPart | undefined>(Math.min(count, MAX_PARTS)).fill(undefined);
  const problems: Problem[] = [];
  const candidates = [{ source, header }];
  for (const other of otherSources)
    if (other !== source) candidates.push({ source: other, header: await readGgufHeader(other) });
  for (const part of candidates) {
    const { file } = part.header;
    const [partCount, partNumber] = [
      wholeNumberKey(part.header, 'split.count'),
      wholeNumberKey(part.header, 'split.no'),
    ];
    const report = (place: string, got: string, want: string) =>
      problems.push({ file, place, got, want, remedy: 'Choose the parts of one model alone.' });
    if (partCount !== count) report('split.count', String(partCount ?? 'nothing'), `${count}, as in ${source.name}`);
    else if (partNumber === null || partNumber >= partByNumber.length)
      report('split.no', String(partNumber ?? 'nothing'), `0 … ${count - 1}`);
    else if (partByNumber[partNumber])
      report('split.no', `${partNumber}, which ${partByNumber[partNumber].header.file} is too`, 'every part once');
    else partByNumber[partNumber] = part;
  }
  const parts = partByNumber.filter((part) => part !== undefined);
  if (problems.length === 0 && parts.length < count)
    problems.push(missingPartsProblem(source.name, count, partByNumber));
  if (problems.length > 0) throw new ProblemError(problems);
  checkTensors(parts);
  return parts;
}

function wholeNumberKey({ metadata }: GgufHeader, key: string): number | null {
  const value = metadata.get(key);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function missingPartsProblem(file: string, count: number, partByNumber: readonly (GgufPart | undefined)[]): Problem {
  const names = partNames(file);
  const partLabels = names.length === count ? names : partByNumber.map((_, i) => `part ${i + 1}`);
  const missingNames = partLabels.filter((_, i) => !partByNumber[i]);
  const shown = missingNames.length > 4 ? `${missingNames.slice(0, 4).join(', ')} and ${missingNames.length - 4} more` : missingNames.join(', '); // prettier-ignore
  const firstName = names.length === count ? names[0] : `the first part`;
  return {
    ...{ file, place: 'split.count', got: `${count} parts, without ${shown}`, want: `all ${count}` },
    remedy: `Choose all of them together. Or join them first: llama-gguf-split --merge ${firstName} joined.gguf`,
  };
}

/** Throws ProblemError if a tensor is in two parts, or if the number of tensors differs from what the first part says. */
function checkTensors(parts: readonly GgufPart[]): void {
  const fileOfTensor = new Map<string, string>();
  const fail = (file: string, place: string, got: string, want: string) =>
    new ProblemError([{ file, place, got, want, remedy: 'Choose the parts of one model alone.' }]);
  for (const { header } of parts) {
    for (const name of header.tensors.keys()) {
      const other = fileOfTensor.get(name);
      if (other !== undefined) throw fail(header.file, name, `a tensor that ${other} has too`, 'every tensor once');
      fileOfTensor.set(name, header.file);
    }
  }
  const [firstPart] = parts;
  const declaredCount = firstPart && wholeNumberKey(firstPart.header, 'split.tensors.count');
  if (firstPart && declaredCount !== null && declaredCount !== fileOfTensor.size) {
    throw fail(
      firstPart.header.file,
      'split.tensors.count',
      `${declaredCount}, but ${fileOfTensor.size} tensors in all parts`,
      'equal numbers',
    );
  }
}
