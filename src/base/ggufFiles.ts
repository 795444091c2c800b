/** Most parts of one model in the GGUF format; none that is published has as many. */
export const MOST_PARTS = 1000;
const NAME = /^(.*)-(\d{5})-of-(\d{5})(\.gguf)$/i;

/** The names of all parts of the split model that a file of this name belongs to; the name alone where it is not a part. */
export function partNames(name: string): readonly string[] {
  const [, stem = '', , digits = '', end = ''] = NAME.exec(name) ?? [];
  const count = Number(digits);
  if (digits === '' || count < 1 || count > MOST_PARTS) return [name];
  return Array.from({ length: count }, (_, i) => `${stem}-${String(i + 1).padStart(5, '0')}-of-${digits}${end}`);
}

/** The first GGUF file of these with the other parts of its model that are there, in their order; empty if there is none. */
export function ggufFiles<File extends { readonly path: string }>(files: readonly File[]): readonly File[] {
  const first = files.find(({ path }) => /\.gguf$/i.test(path));
  if (!first) return [];
  return partNames(first.path).flatMap((name) => files.find(({ path }) => path === name) ?? []);
}
