/**
 * Joins a kernel's source with the pieces it names. What comes out is WGSL that is valid alone; what goes in says
 *
 *     //! piece NAME             the text of pieces/NAME.wgsl stands here
 *     //! each i 0..3 … //! end  the lines between stand here for i = 0, 1, 2, 3: $i is i, ${i+4} and ${4*i+q} are sums
 *
 * Throws where a directive does not read, or lacks its end.
 */
export function joined(text: string, piece: (name: string) => string): string {
  const lines = text.split('\n').flatMap((line) => {
    const [, name] = /^\s*\/\/! piece (\w+)$/.exec(line) ?? [];
    return name === undefined ? [line] : joined(piece(name).trimEnd(), piece).split('\n');
  });
  return repeated(lines, {}).join('\n');
}

/** Names of the pieces that a source names itself. */
export function piecesOf(text: string): string[] {
  return Array.from(text.matchAll(/^\s*\/\/! piece (\w+)$/gm), ([, name]) => name ?? '');
}

type Values = Readonly<Record<string, number>>;

/** The lines with every `each` written out, and its names replaced. */
function repeated(lines: readonly string[], values: Values): string[] {
  const out: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const [, name, from, to] = /^\s*\/\/! each (\w+) (\d+)\.\.(\d+)$/.exec(line) ?? [];
    if (name === undefined) {
      if (line.includes('//!')) throw new Error(`WGSL: ${line.trim()} can’t be read. Use piece, each or end.`);
      out.push(filled(line, values));
      continue;
    }
    const end = endOf(lines, at);
    const body = lines.slice(at + 1, end);
    for (let i = Number(from); i <= Number(to); i++) out.push(...repeated(body, { ...values, [name]: i }));
    at = end;
  }
  return out;
}

/** The line that ends the `each` at `start`. */
function endOf(lines: readonly string[], start: number): number {
  let depth = 0;
  for (let at = start; at < lines.length; at++) {
    const line = (lines[at] ?? '').trim();
    if (line.startsWith('//! each')) depth++;
    if (line === '//! end' && --depth === 0) return at;
  }
  throw new Error(`WGSL: ${(lines[start] ?? '').trim()} has no end.`);
}

/** $i and ${…} replaced. */
function filled(line: string, values: Values): string {
  const valueOf = (name: string) => {
    const value = values[name] ?? Number(name);
    if (!Number.isInteger(value))
      throw new Error(`WGSL: ${name} is neither a number nor of an each around: ${line.trim()}`);
    return value;
  };
  const product = (text: string) => text.split('*').reduce((all, factor) => all * valueOf(factor), 1);
  return line
    .replaceAll(/\$\{([\w*+]+)\}/g, (_, sum: string) =>
      String(sum.split('+').reduce((all, term) => all + product(term), 0)),
    )
    .replaceAll(/\$(\w+)/g, (_, name: string) => String(valueOf(name)));
}
