import { useEffect, useMemo, useState } from 'react';
import { meansByStep } from '../../rollouts/select.ts';
import { Header } from '../shell/Header.tsx';
import { StatusLine } from '../shell/StatusLine.tsx';
import { routeOf } from '../address/hash.ts';
import '../styles/tokens.css';
import '../styles/rollouts.css';
import { readRolloutsHash, rolloutsHash } from './rolloutsAddress.ts';
import { FileBar } from './FileBar.tsx';
import { Filters } from './Filters.tsx';
import { List } from './List.tsx';
import { LookAt } from './LookAt.tsx';
import { openSample } from './openRollouts.ts';
import { StepCurves } from './StepCurves.tsx';
import { table, useRollouts } from './rolloutFileStore.ts';
import { useListed } from './useListed.ts';
import { Welcome } from './Welcome.tsx';

/** Rollouts out of files, from this project and from others. */
export function Rollouts() {
  const open = useRollouts((s) => s.files.length > 0 || s.reading !== null);
  const corrections = useAddress();
  return (
    <>
      <Header />
      <main className="rollout-files screen pane" data-pane="watch" data-open={open}>
        {corrections.map((text) => (
          <p key={text} className="note" role="alert">
            {text}
          </p>
        ))}
        {open ? <Opened /> : <Welcome />}
      </main>
      <StatusLine />
    </>
  );
}

function Opened() {
  const list = useListed();
  const means = useMemo(() => meansByStep(table.columns, list), [list]);
  const opened = useRollouts((s) => s.opened);
  return (
    <>
      <FileBar />
      <div className="rollouts-body">
        <section className="panel rollouts-list" aria-label="Rollouts">
          <Filters key={opened} shown={list.length} />
          <List list={list} />
        </section>
        <section className="rollouts-look" aria-label="Selected rollouts">
          <StepCurves means={means} />
          <LookAt {...{ list, means }} />
        </section>
      </div>
    </>
  );
}

/** The address follows what is looked at, and what is looked at an address that is typed or gone back to. Returns what it could not mean. */
function useAddress(): readonly string[] {
  const [corrections, setCorrections] = useState<readonly string[]>([]);
  useEffect(() => {
    const here = () => routeOf(location.hash) === 'rollouts';
    const read = (typed: boolean) => {
      if (!here()) return;
      const { row, look, sample, corrections: told } = readRolloutsHash(location.hash);
      const { files, reading } = useRollouts.getState();
      const nothing = files.length === 0 && reading === null;
      if (typed && sample && nothing) void openSample({ row, look });
      else if (!nothing) useRollouts.setState({ look, ...(row !== null && { row }) });
      const gone =
        nothing && row !== null && !sample
          ? ['This link needs files that are no longer open. Drop them here again.']
          : [];
      setCorrections([...told, ...gone]);
    };
    const write = (enter: boolean) => {
      if (!here()) return;
      const { row, look, files, sample } = useRollouts.getState();
      const hash = rolloutsHash(
        files.length > 0 ? { row, look, sample } : { row: null, look: 'rollout', sample: false },
      );
      if (hash === location.hash) return;
      if (enter) history.pushState(history.state, '', hash);
      else history.replaceState(history.state, '', hash);
    };
    read(true);
    const stop = useRollouts.subscribe((state, before) => {
      if (state.row === before.row && state.look === before.look && state.files === before.files) return;
      // another way to look is a step back; going through the list is none
      write(state.look !== before.look && before.row !== null);
    });
    const onPop = () => read(false);
    addEventListener('popstate', onPop);
    return () => {
      stop();
      removeEventListener('popstate', onPop);
    };
  }, []);
  return corrections;
}
