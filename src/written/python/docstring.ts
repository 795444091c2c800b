import type { SyntaxNode } from '@lezer/common';

/** What a docstring in Google's style says: its sentences, and what its `Args:` say of each parameter. */
export interface Docstring {
  readonly says: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The docstring of a class or a function; empty where it has none. */
export function docstringOf(definition: SyntaxNode, text: (node: SyntaxNode) => string): Docstring {
  const [first] = definition.getChild('Body')?.getChildren('ExpressionStatement') ?? [];
  const literal = first?.prevSibling?.name === ':' ? first.getChild('String') : null;
  return readDocstring(literal ? valueOf(text(literal)) : '');
}

/** As `transformers.utils.get_json_schema` reads it, which TRL asks for a tool's schema. */
function readDocstring(doc: string): Docstring {
  const [says = '', ...sections] = doc.split(/^[ \t]*(?=(?:Args|Returns|Raises):[ \t]*$)/m);
  const args = sections.find((section) => section.startsWith('Args:'))?.slice('Args:'.length) ?? '';
  const parameters = new Map<string, string>();
  for (const [, name = '', of = ''] of args.matchAll(
    /(?:^|\n)\s*(\w+)\s*(?:\([^)]*?\))?:\s*([\s\S]*?)\s*(?=\n\s*\w+\s*(?:\([^)]*?\))?:|$(?![\s\S]))/g,
  )) {
    parameters.set(name, flowing(of));
  }
  return { says: flowing(says), parameters };
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\n': '' };

/** The text that a literal stands for. */
function valueOf(literal: string): string {
  const [, prefix = '', , inner = ''] = /^([a-zA-Z]*)("""|'''|"|')([\s\S]*)\2$/.exec(literal) ?? [];
  if (/r/i.test(prefix)) return inner;
  return inner.replaceAll(/\\([\s\S])/g, (_, letter: string) => ESCAPED[letter] ?? letter);
}

const flowing = (lines: string) => lines.split(/\s+/).filter(Boolean).join(' ');
