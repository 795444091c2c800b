import { MOST_PARTS, partNames } from '../base/ggufFiles.ts';
import type { ByteSource } from './byteSource.ts';
import { type GgufHeader, readGgufHeader } from './ggufHeader.ts';
import { type Problem, ProblemError } from '../base/problem.ts';

/** A file of a split model with its header. */
export interface GgufPart {
  readonly source: ByteSource;
  readonly header: GgufHeader;
}

/**
 * The headers of a model's files, the one with its keys first: `source` alone, or all that llama-gguf-split made of it. Throws ProblemError as
 * `readGgufHeader` does, and where parts are missing, with what they are called and how to join them.
 */
export async function readParts(source: ByteSource, others: readonly ByteSource[]): Promise<readonly GgufPart[]> {
  const header = await readGgufHeader(source);
  const count = wholeKey(header, 'split.count') ?? 1;
  if (count <= 1) return [{ source, header }];
  const places = new Array<GgufPart | undefined>(Math.min(count, MOST_PARTS)).fill(undefined);
  const problems: Problem[] = [];
  const given = [{ source, header }];
  for (const other of others) if (other !== source) given.push({ source: other, header: await readGgufHeader(other) });
  for (const part of given) {
    const { file } = part.header;
    const [own, no] = [wholeKey(part.header, 'split.count'), wholeKey(part.header, 'split.no')];
    const wrong = (place: string, got: string, want: string) =>
      problems.push({ file, place, got, want, remedy: 'Choose the parts of one model alone.' });
    if (own !== count) wrong('split.count', String(own ?? 'nothing'), `${count}, as in ${source.name}`);
    else if (no === null || no >= places.length) wrong('split.no', String(no ?? 'nothing'), `0 … ${count - 1}`);
    else if (places[no]) wrong('split.no', `${no}, which ${places[no].header.file} is too`, 'every part once');
    else places[no] = part;
  }
  const parts = places.filter((part) => part !== undefined);
  if (problems.length === 0 && parts.length < count) problems.push(missing(source.name, count, places));
  if (problems.length > 0) throw new ProblemError(problems);
  checkTensors(parts);
  return parts;
}

function wholeKey({ metadata }: GgufHeader, key: string): number | null {
  const value = metadata.get(key);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function missing(file: string, count: number, places: readonly (GgufPart | undefined)[]): Problem {
  const names = partNames(file);
  const named = names.length === count ? names : places.map((_, i) => `part ${i + 1}`);
  const without = named.filter((_, i) => !places[i]);
  const shown = without.length > 4 ? `${without.slice(0, 4).join(', ')} and ${without.length - 4} more` : without.join(', '); // prettier-ignore
  const first = names.length === count ? names[0] : `the first part`;
  return {
    ...{ file, place: 'split.count', got: `${count} parts, without ${shown}`, want: `all ${count}` },
    remedy: `Choose all of them together. Or join them first: llama-gguf-split --merge ${first} joined.gguf`,
  };
}

/** Throws ProblemError where a tensor is in two parts, or there are more or fewer than the first part says. */
function checkTensors(parts: readonly GgufPart[]): void {
  const seen = new Map<string, string>();
  const fail = (file: string, place: string, got: string, want: string) =>
    new ProblemError([{ file, place, got, want, remedy: 'Choose the parts of one model alone.' }]);
  for (const { header } of parts) {
    for (const name of header.tensors.keys()) {
      const other = seen.get(name);
      if (other !== undefined) throw fail(header.file, name, `a tensor that ${other} has too`, 'every tensor once');
      seen.set(name, header.file);
    }
  }
  const [first] = parts;
  const declaredCount = first && wholeKey(first.header, 'split.tensors.count');
  if (first && declaredCount !== null && declaredCount !== seen.size) {
    throw fail(first.header.file, 'split.tensors.count', `${declaredCount}, and ${seen.size} in all parts`, 'as many');
  }
}
