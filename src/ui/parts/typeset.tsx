import type { ReactNode } from 'react';

const SCRIPT = /([_^])(\{[^}]*\}|[^\s·()+,/=]+)/;

/** A text with subscripts (after `_`) and superscripts (after `^`). */
export function typeset(text: string): ReactNode {
  const match = SCRIPT.exec(text);
  if (!match) return text;
  const [whole, sign, script = ''] = match;
  const scriptText = script.replace(/[{}]/g, '');
  return (
    <>
      {text.slice(0, match.index)}
      {sign === '_' ? <sub>{scriptText}</sub> : <sup>{scriptText}</sup>}
      {typeset(text.slice(match.index + whole.length))}
    </>
  );
}
