import { useEffect, useRef } from 'react';
import { actsIn, YOUR_ENVIRONMENT } from '../../config/environments.ts';
import type { RunConfig } from '../../config/fields.ts';
import { counted } from '../parts/countText.ts';
import { short } from '../parts/numberText.ts';
import { useLive } from '../run/liveStore.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { Icon } from '../parts/Icon.tsx';
import { useSelection } from '../shell/selectionStore.ts';
import { Ending } from './Ending.tsx';
import { canPlaySelected, playAgain, playNew, playSelected, type Table, useGame } from './game.ts';
import { Transcript } from './Transcript.tsx';
import { TurnPad } from './TurnPad.tsx';
import { WordPad } from './WordPad.tsx';
import '../styles/play.css';

/** A task with the reader in the agent's place: the same words, the same rules, the same reward. */
export function PlayDialog() {
  const episode = useRef<HTMLDivElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const { config, table, problem, agent, tokens } = useGame();
  useEffect(() => {
    if (useGame.getState().config) return;
    if (canPlaySelected()) playSelected();
    else playNew();
  }, []);
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'nearest' });
    // the words to choose from are gone, and the focus with them
    if (table && table.played.stop !== null) episode.current?.focus();
  }, [table]);
  const close = () => useSelection.setState({ playing: false });
  return (
    <Dialog title="Play it yourself" className="play wide" onClose={close} beside={<Score />}>
      <Tasks />
      <div className="card play-scroll" role="region" aria-label="Episode" ref={episode} tabIndex={0}>
        {table && config && (
          <>
            <p className="strong">{table.played.question}</p>
            <Transcript played={table.played} vocabulary={table.vocabulary} config={config} />
            <Ending table={table} agent={agent} />
          </>
        )}
        <div ref={end} />
      </div>
      {problem && (
        <p className="note bad" role="alert">
          {problem}
        </p>
      )}
      {table?.played.stop === null && <Pad table={table} />}
      <p className="visually-hidden" role="status">
        {table && heard(table.played.paid.length, tokens.length)}
      </p>
    </Dialog>
  );
}

/** Where the next word is chosen, or the next turn typed. */
function Pad({ table }: { readonly table: Table }) {
  if (table.tools === null) return <WordPad table={table} />;
  const { length } = table.played.paid; // a turn that was taken leaves the place empty
  return <TurnPad key={length} tools={table.tools} budget={table.played.budget} />;
}

/** How far the episode is, and what it has paid. */
function Score() {
  const { config, table } = useGame();
  if (!table || !config) return null;
  const { played } = table;
  return (
    <span className="end play-score faint" data-testid="play-score">
      {taskName(config, table)} · {played.stop === null && `turn ${played.paid.length + 1}${turnsOf(config)} · `}
      reward {short(played.reward)}
    </span>
  );
}

/** Which task to play. */
function Tasks() {
  useLive((s) => s.batchVersion);
  const begun = useGame((s) => s.config !== null);
  return (
    <div className="row">
      <button type="button" onClick={playNew}>
        <Icon name="dice" /> New task
      </button>
      <button type="button" disabled={!begun} onClick={playAgain}>
        <Icon name="restart" /> Same task again
      </button>
      <button
        type="button"
        disabled={!canPlaySelected()}
        onClick={playSelected}
        title="The task of the rollout in view"
      >
        <Icon name="watch" /> The agent’s task
      </button>
    </div>
  );
}

/** An environment that a person wrote is known by its class. */
function taskName({ env }: RunConfig, { played: { view } }: Table): string {
  return view.kind === 'calls' ? view.title : env;
}

/** Of how many: a class that a person wrote keeps that to itself. */
function turnsOf({ env, maxTurns }: RunConfig): string {
  if (env === YOUR_ENVIRONMENT) return '';
  return ` of ${actsIn('maxTurns', env) ? maxTurns : 1}`;
}

function heard(turns: number, words: number): string {
  return words === 0 ? 'A new episode begins.' : turns > 0 ? `${counted(turns, 'turn')} taken.` : '';
}
