import { useState } from 'react';
import type { BatchView } from '../../domain/batch.ts';
import { whole } from '../parts/numberText.ts';
import { useSelection } from '../shell/selectionStore.ts';

interface Props {
  readonly batch: BatchView;
  readonly tokens: readonly number[]; // flat indexes
}

/** Leads to tokens of a batch, one after the other; nothing if there are none. */
export function ShowTokens({ batch, tokens }: Props) {
  const [at, setAt] = useState<{ readonly of: readonly number[]; readonly k: number } | null>(null);
  if (tokens.length === 0) return null;
  const k = at?.of === tokens ? at.k : null;
  const go = (to: number) => {
    const next = (to + tokens.length) % tokens.length;
    setAt({ of: tokens, k: next });
    show(batch, tokens[next] ?? 0);
  };
  if (k === null) {
    return (
      <button type="button" className="small" onClick={() => go(0)}>
        {tokens.length === 1 ? 'Show it ›' : 'Show them ›'}
      </button>
    );
  }
  return (
    <span className="line">
      <button type="button" className="small" aria-label="Previous token" onClick={() => go(k - 1)}>
        ‹
      </button>
      <span aria-live="polite">
        {whole(k + 1)} of {whole(tokens.length)}
      </span>
      <button type="button" className="small" aria-label="Next token" onClick={() => go(k + 1)}>
        ›
      </button>
    </span>
  );
}

/** Chooses a token with its rollout and turn, and brings it in sight; on a phone the rollout with it. */
function show(batch: BatchView, i: number): void {
  const [row, token] = [Math.floor(i / batch.length), i % batch.length];
  useSelection.setState({ row, token, turn: batch.turns[i] ?? null, revealed: null, branch: null, tab: 'watch' });
  requestAnimationFrame(() =>
    document.querySelector('.turns .token[aria-pressed="true"]')?.scrollIntoView({ block: 'nearest' }),
  );
}
