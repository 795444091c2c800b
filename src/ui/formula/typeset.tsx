import type { ReactNode } from 'react';

const SCRIPT = /([_^])(\{[^}]*\}|[^\s·()+,/=]+)/;

/** A text with subscripts (after `_`) and superscripts (after `^`). */
export function typeset(text: string): ReactNode {
  const found = SCRIPT.exec(text);
  if (!found) return text;
  const [whole, sign, script = ''] = found;
  const shown = script.replace(/[{}]/g, '');
  return (
    <>
      {text.slice(0, found.index)}
      {sign === '_' ? <sub>{shown}</sub> : <sup>{shown}</sup>}
      {typeset(text.slice(found.index + whole.length))}
    </>
  );
}
