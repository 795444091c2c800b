interface Props {
  readonly kindStyle: { readonly label: string; readonly letter: string; readonly note?: string };
}

/** Label for who wrote a span: a word, and a letter for people who can't see the colours. */
export function SpanLabel({ kindStyle: { label, letter, note } }: Props) {
  return (
    <span className="span-label rigid small" title={note}>
      <b className="tag" aria-hidden="true">
        {letter}
      </b>
      {label}
    </span>
  );
}
