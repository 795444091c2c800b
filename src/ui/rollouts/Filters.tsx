import { useState } from 'react';
import { parseDecimal } from '../../base/decimal.ts';
import { type Filter, NO_FILTER, type SortColumn } from '../../rollouts/select.ts';
import { count, percent } from '../../page/words/numberText.ts';
import { search, table, useRollouts } from '../../page/files/rolloutFileStore.ts';

const ORDERS: readonly SortColumn[] = ['step', 'group', 'reward'];
const BOUNDS = [
  ['minReward', 'reward from'],
  ['maxReward', 'reward to'],
  ['minStep', 'step from'],
  ['maxStep', 'step to'],
  ['minCalls', 'calls from'],
] as const satisfies readonly (readonly [keyof Filter, string])[];

export function Filters({ shown }: { readonly shown: number }) {
  const searched = useRollouts((s) => s.searched);
  return (
    <div className="stack rollouts-filters">
      <div className="row">
        <OrderButtons />
        <span className="faint small end" role="status">
          {count(shown)} of {count(table.rows - table.withdrawnRows)}
        </span>
      </div>
      <Search />
      {searched < 1 && (
        <span className="faint small">
          searched {percent(searched)} <progress value={searched} aria-label="Searched so far" />
        </span>
      )}
      <FilterFields />
    </div>
  );
}

function OrderButtons() {
  const order = useRollouts((s) => s.order);
  return (
    <>
      <div className="segments" role="group" aria-label="Ordered by">
        {ORDERS.map((by) => (
          <button
            key={by}
            type="button"
            aria-pressed={order.by === by}
            onClick={() => useRollouts.setState({ order: { by, descending: by === 'reward' } })}
          >
            by {by}
          </button>
        ))}
      </div>
      <button
        type="button"
        className="small"
        aria-label={order.descending ? 'Descending; turn round' : 'Ascending; turn round'}
        onClick={() => useRollouts.setState({ order: { ...order, descending: !order.descending } })}
      >
        {order.descending ? '↓' : '↑'}
      </button>
    </>
  );
}

function FilterFields() {
  const filter = useRollouts((s) => s.filter);
  const [resets, setResets] = useState(0); // counts resets; part of the fields' keys, so that typed text is cleared too
  const filtered = Object.entries(filter).some(([name, value]) => value !== NO_FILTER[name as keyof Filter]);
  const setSuccess = (text: string) => {
    const success = text === 'solved' || text === 'failed' ? text : 'any';
    useRollouts.setState({ filter: { ...filter, success } });
  };
  return (
    <details className="filter">
      <summary className="small soft">Filter{filtered ? ' (on)' : ''}</summary>
      <div className="filter-fields">
        {BOUNDS.map(([name, label]) => (
          <Bound key={`${name} ${resets}`} name={name} label={label} />
        ))}
        <label>
          <span className="small soft">success</span>
          <select value={filter.success} onChange={({ target }) => setSuccess(target.value)}>
            <option value="any">any</option>
            <option value="solved">solved</option>
            <option value="failed">not solved</option>
          </select>
        </label>
        <button
          type="button"
          className="small"
          disabled={!filtered}
          onClick={() => {
            useRollouts.setState({ filter: NO_FILTER });
            setResets(resets + 1);
          }}
        >
          Show all
        </button>
      </div>
    </details>
  );
}

function Search() {
  const words = useRollouts((s) => s.searchText);
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <form
      className="line"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        search(typed ?? words);
      }}
    >
      <input
        type="search"
        aria-label="Search in all texts"
        placeholder="Search in all texts"
        value={typed ?? words}
        onChange={({ target }) => {
          setTyped(target.value);
          if (target.value === '') search('');
        }}
      />
      <button type="submit" className="small">
        Search
      </button>
    </form>
  );
}

/** Input for a bound of the filter. A text that isn't a number sets no bound. */
function Bound({ name, label }: { readonly name: (typeof BOUNDS)[number][0]; readonly label: string }) {
  const bound = useRollouts((s) => s.filter[name]);
  const [typed, setTyped] = useState(bound === null ? '' : String(bound));
  return (
    <label>
      <span className="small soft">{label}</span>
      <input
        inputMode="decimal"
        value={typed}
        aria-invalid={typed !== '' && parseDecimal(typed) === null}
        onChange={({ target }) => {
          setTyped(target.value);
          useRollouts.setState(({ filter }) => ({ filter: { ...filter, [name]: parseDecimal(target.value) } }));
        }}
      />
    </label>
  );
}
