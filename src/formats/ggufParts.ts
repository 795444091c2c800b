import { MAX_PARTS, partNames } from '../base/ggufFiles.ts';
import type { ByteSource } from './byteSource.ts';
import { type GgufHeader, readGgufHeader } from './ggufHeader.ts';
import { type Problem, ProblemError } from '../base/problem.ts';

/** One file of a model, with its header. */
export interface GgufPart {
  readonly source: ByteSource;
  readonly header: GgufHeader;
}

/**
 * Reads the headers of a model's files: of `source` alone, or of all parts that llama-gguf-split wrote. The part with
 * the metadata comes first. Throws ProblemError as `readGgufHeader` does. If parts are missing, the error has their
 * names and says how to join them.
 */
export async function readParts(source: ByteSource, otherSources: readonly ByteSource[]): Promise<readonly GgufPart[]> {
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

/**
 * Throws ProblemError if a tensor is in two parts, or if the number of tensors differs from what the first part says.
 */
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
