export function TermList({ terms }: { readonly terms: readonly (readonly [term: string, value: string])[] }) {
  return (
    <dl className="term-list">
      {terms.map(([term, value]) => (
        <div key={term}>
          <dt className="faint">{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
