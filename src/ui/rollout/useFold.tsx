import { useState, type ReactNode } from 'react';
import type { Writing } from '../../domain/tokens.ts';
import type { Span } from '../../domain/tokenSpans.ts';

/** Of text that the agent did not write, so many tokens are shown at first. */
const FOLDED = 48;

/** The tokens of a span that are shown, and where text that the agent did not write is long a button that shows all. */
export function useFold(
  { kind, tokens }: Span,
  writing: Writing,
): { readonly shown: readonly number[]; readonly fold: ReactNode } {
  const [whole, setWhole] = useState(false);
  const forced = kind === 'prompt' || kind === 'observation';
  if (writing !== 'bytes' || !forced || tokens.length <= FOLDED) return { shown: tokens, fold: null };
  const fold = (
    <button type="button" className="quiet small" aria-expanded={whole} onClick={() => setWhole(!whole)}>
      {whole ? 'Fold' : `… all ${tokens.length} tokens`}
    </button>
  );
  return { shown: whole ? tokens : tokens.slice(0, FOLDED), fold };
}
