/** prime-rl writes episodes of `effective`, which it trained on, into `all` too; without `effective`, each occurs once. */
export function inReadingOrder<F extends { readonly path: string }>(files: readonly F[]): readonly F[] {
  const paths = new Set(files.map(({ path }) => path));
  return files
    .filter(({ path }) => !EFFECTIVE.test(path) || !paths.has(path.replace(EFFECTIVE, '$1all$2')))
    .sort((a, b) => a.path.localeCompare(b.path, 'en', { numeric: true }));
}
const EFFECTIVE = /((?:^|\/)(?:train|eval)\/)effective(\/[^/]+)$/;
