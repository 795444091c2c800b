/** The last part of a path, of any system: what may leave this machine of it. */
export function baseName(path: string): string {
  return path.replace(/[\\/]+$/, '').replace(/^.*[\\/]/s, '');
}
