/** Returns the last part of a path of any operating system: the only part of a path that may leave this machine. */
export function baseName(path: string): string {
  return path.replace(/[\\/]+$/, '').replace(/^.*[\\/]/s, '');
}
