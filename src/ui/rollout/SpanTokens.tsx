import type { ReactNode } from 'react';
import type { Writing } from '../../domain/tokens.ts';

interface Props {
  readonly writing: Writing;
  readonly children: ReactNode; // a token each, before what is said of them
}

/** Tokens one after the other, as they are written: styles go by `data-writing`. */
export function SpanTokens({ writing, children }: Props) {
  return (
    <span className="span-tokens" data-writing={writing}>
      {children}
    </span>
  );
}
