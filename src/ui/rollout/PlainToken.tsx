import type { Kind } from '../../domain/tokens.ts';

interface Props {
  readonly word: string;
  readonly kind: Kind;
  readonly tag: boolean;
  readonly trained: boolean; // whether the loss counts it; hatched where it does not
}

/** A token to read: who wrote it and whether it is trained, nothing to press. */
export function PlainToken({ word, kind, tag, trained }: Props) {
  return (
    <span className="token" data-kind={kind} data-tag={tag} data-loss={trained}>
      <span className="word">{word}</span>
    </span>
  );
}
