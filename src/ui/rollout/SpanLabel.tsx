interface Props {
  readonly of: { readonly label: string; readonly letter: string; readonly note?: string };
}

/** Who wrote a stretch of a rollout: a letter, for where colours are not seen, and the word. */
export function SpanLabel({ of: { label, letter, note } }: Props) {
  return (
    <span className="span-label" title={note}>
      <b className="tag" aria-hidden="true">
        {letter}
      </b>
      {label}
    </span>
  );
}
