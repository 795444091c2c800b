import type { SyntaxNode } from '@lezer/common';
import { resembles } from '../base/resembles.ts';
import { visible } from '../base/visible.ts';
import type { FileProblem } from '../domain/environmentFile.ts';
import { DYNAMIC_MEMBERS, memberUses } from './undeclaredMembers.ts';
import { childrenOf } from './syntax.ts';

/** The static fields that the playground reads. */
const STATICS = ['tasks', 'maxTurns', 'weights'];
/** The field that the playground reads: it ends the episode. */
const DONE = 'done';
/** Matches `this` used as a whole, so that any member may be read or set through it. */
const WHOLE_THIS = /\bthis\b(?!\s*(?:\?\.|\.|\[))/;

/**
 * Finds names in a class in TypeScript that were probably mistyped and that nothing else would report: a static field
 * that resembles one of the playground's; a member that is given a value but is neither declared nor read; a declared
 * field that is never used and resembles one that is used without a declaration. Each is reported once, at its first
 * line.
 */
export function mistypedNames(
  declaration: SyntaxNode,
  source: string,
  lineOf: (at: number) => number,
): readonly FileProblem[] {
  const body = declaration.getChild('ClassBody');
  if (!body) return [];
  const fields = fieldsOf(body, source);
  const statics = fields.flatMap(({ name, at, isStatic }) => {
    const meant = isStatic && !STATICS.includes(name) && STATICS.find((known) => resembles(name, known));
    return meant
      ? [
          {
            what: `The playground does not read \`static ${visible(name)}\`. Did you mean \`${meant}\`?`,
            line: lineOf(at),
          },
        ]
      : [];
  });
  const code = source.slice(body.from, body.to);
  if (declaration.getChild('extends') || DYNAMIC_MEMBERS.test(code) || WHOLE_THIS.test(code)) return statics;
  const declared = new Map(fields.flatMap(({ name, at, isStatic }) => (isStatic ? [] : [[name, at] as const])));
  const { read, given } = memberUses(body, source);
  const isUsed = (name: string) => read.has(name) || given.has(name);
  const unread = [...given].flatMap(([name, { from: at }]) => {
    if (declared.has(name) || read.has(name) || name === DONE) return [];
    const meant = [...declared.keys(), DONE].find((known) => resembles(name, known));
    const question = meant === undefined ? 'Declare it if you need it' : `Did you mean \`${visible(meant)}\``;
    return [
      {
        what: `\`this.${visible(name)}\` is given a value but never read. ${question}${meant ? '?' : '.'}`,
        line: lineOf(at),
      },
    ];
  });
  const unused = [...declared].flatMap(([name, at]) => {
    if (isUsed(name) || name === DONE) return [];
    const meant = [...given.keys()].find((other) => !declared.has(other) && resembles(name, other));
    return meant === undefined
      ? []
      : [
          {
            what: `\`${visible(name)}\` is declared but never used. Did you mean \`${visible(meant)}\`?`,
            line: lineOf(at),
          },
        ];
  });
  return [...statics, ...unread, ...unused];
}

interface Field {
  readonly name: string;
  readonly at: number;
  readonly isStatic: boolean;
}

function fieldsOf(body: SyntaxNode, source: string): readonly Field[] {
  return childrenOf(body).flatMap((member): Field[] => {
    const name = member.getChild('PropertyDefinition') ?? member.getChild('PrivatePropertyDefinition');
    if (member.name !== 'PropertyDeclaration' || !name) return [];
    const isStatic = /\bstatic\b/.test(source.slice(member.from, name.from));
    return [{ name: source.slice(name.from, name.to), at: name.from, isStatic }];
  });
}
