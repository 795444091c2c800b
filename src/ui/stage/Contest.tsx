import { useEffect, useRef } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { EnvView } from '../../domain/envView.ts';
import type { Recording } from '../../runs/recording.ts';
import { Drawing } from '../drawings/Drawing.tsx';
import { Icon } from '../parts/Icon.tsx';
import { useSize } from '../parts/useSize.ts';
import { type GameState, useGame, write } from '../play/game.ts';
import { Board, outcome, Outcome, WIDE } from './Board.tsx';
import { beginContest, choicesOf, endContest, nextRound, useContest, winner } from './contest.ts';
import type { SideResult } from './play.ts';
import { useStage, WHOLE } from './stageStore.ts';

interface Props {
  readonly recording: Recording;
  readonly own: boolean; // the agent is the reader's own run
}

/** Drawings that give nothing away while someone plays. */
const SHOWN_IN_PLAY: readonly EnvView['kind'][] = ['number-line', 'grid', 'sum'];

/** The reader at a task, press by press; then the agent at the same one. */
export function Contest({ recording, own }: Props) {
  const config = recording.begun;
  const { round, agent, won } = useContest();
  const table = useGame((s) => s.table);
  const problem = useGame((s) => s.problem);
  useEffect(() => {
    beginContest(recording, recording.begun, own);
    return endContest;
  }, [recording, own]);
  const reader = table && faredAt(table);
  const over = reader !== null;
  const first = reader && agent && winner(reader, agent.episode);
  const leave = () => useStage.setState({ contest: false });
  return (
    <>
      <div className="boards" data-shown={agent ? 'both' : 'before'} data-count={2}>
        <ReaderBoard table={table} config={config} won={first === 'reader'} />
        {agent ? (
          <Board title="The agent" play={agent} step={WHOLE} config={config} side="after" glows={first === 'agent'} />
        ) : (
          <section className="board contest-waits" aria-label="The agent" data-side="after">
            <h2>The agent</h2>
            <p>{over ? 'plays …' : 'plays the same task when you are through.'}</p>
          </section>
        )}
      </div>
      <p className="line duel-line" role="status" data-testid="tally">
        Round {round} · You <b>{won.reader}</b> : <b>{won.agent}</b> the agent
        {reader && agent && <span>{`You: ${outcome(reader)}. Agent: ${outcome(agent.episode)}.`}</span>}
        {problem && <span role="alert">{problem}</span>}
      </p>
      <div className="duel-buttons">
        <button type="button" className="primary" disabled={!over} onClick={() => nextRound(recording, config, own)}>
          <Icon name="next" /> Next round
        </button>
        <button type="button" onClick={leave}>
          Back
        </button>
      </div>
    </>
  );
}

/** How the reader fared; null before the end. */
function faredAt({ played: { stop, success, paid } }: GameState): SideResult | null {
  return stop === null ? null : { success, turns: paid.length };
}

interface ReaderProps {
  readonly table: GameState | null;
  readonly config: RunConfig;
  readonly won: boolean; // the round
}

/** The board as far as the reader has come; what the agent does not know stays hidden until the end. */
function ReaderBoard({ table, config, won }: ReaderProps) {
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const played = table?.played;
  const fared = table && faredAt(table);
  const over = fared !== null;
  const drawn = played && (over || SHOWN_IN_PLAY.includes(played.view.kind));
  return (
    <section
      className="board contest-board"
      aria-label="You"
      data-side="before"
      data-solved={fared?.success ?? false}
      data-glows={won}
    >
      <div className="line board-title">
        <h2>You</h2>
        <p className="line board-outcome">
          {fared ? <Outcome {...fared} /> : played && `turn ${played.paid.length + 1} of ${config.maxTurns}`}
        </p>
      </div>
      {drawn && <p className="soft">{played.question}</p>}
      <Pad table={table} />
      <div className="board-view" ref={box}>
        {drawn ? (
          <Drawing
            view={played.view}
            turn={played.paid.length}
            group={[]}
            rows={config.maxTurns}
            wide={width > WIDE * height}
            secret={!over}
          />
        ) : (
          <p className="contest-question">{played?.question}</p>
        )}
      </div>
    </section>
  );
}

const ARROWS: Readonly<Record<string, string>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};

/** What can be chosen next, a button each: the numbers of the line, the ways of a walk, what can be looked up. */
function Pad({ table }: { readonly table: GameState | null }) {
  const choices = table ? choicesOf(table) : [];
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const chosen = choices.find(({ word }) => word === ARROWS[event.key]);
      if (!chosen || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      write(chosen.id);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  const numbers = choices.length > 0 && choices.every(({ word }) => /^\d+$/.test(word));
  return (
    <div className="contest-pad" role="group" aria-label="Your next choice" data-numbers={numbers}>
      {choices.map(({ id, word }) => (
        <button key={id} type="button" onClick={() => write(id)}>
          {word}
        </button>
      ))}
    </div>
  );
}
