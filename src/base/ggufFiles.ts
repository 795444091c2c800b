/** Largest number of parts of a model in the GGUF format. No published model has as many. */
export const MAX_PARTS = 1000;
const PART_NAME = /^(.*)-(\d{5})-of-(\d{5})(\.gguf)$/i;

/** All parts of the split model to which the file belongs. If the name is not that of a part, only the name. */
export function partNames(name: string): readonly string[] {
  const [, stem = '', , digits = '', extension = ''] = PART_NAME.exec(name) ?? [];
  const count = Number(digits);
  if (digits === '' || count < 1 || count > MAX_PARTS) return [name];
  return Array.from({ length: count }, (_, i) => `${stem}-${String(i + 1).padStart(5, '0')}-of-${digits}${extension}`);
}

/** The first GGUF file with the other parts of its model that are in the list, in order. Empty if there is none. */
export function ggufFiles<File extends { readonly path: string }>(files: readonly File[]): readonly File[] {
  const first = files.find(({ path }) => /\.gguf$/i.test(path));
  if (!first) return [];
  return partNames(first.path).flatMap((name) => files.find(({ path }) => path === name) ?? []);
}
