import { useEffect, useRef } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { EnvView } from '../../domain/envView.ts';
import type { Recording } from '../../runs/recording.ts';
import { Drawing } from '../drawings/Drawing.tsx';
import { counted } from '../parts/counted.ts';
import { Icon } from '../parts/Icon.tsx';
import { useSize } from '../parts/useSize.ts';
import { type Table, useGame, write } from '../play/game.ts';
import { WIDE, Board } from './Board.tsx';
import { beginContest, choicesOf, endContest, nextRound, useContest } from './contest.ts';
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
  const over = table !== null && table.played.stop !== null;
  const leave = () => useStage.setState({ contest: false });
  return (
    <>
      <div className="boards" data-shown={agent ? 'both' : 'before'} data-count={2}>
        <ReaderBoard table={table} config={config} />
        {agent ? (
          <Board title="The agent" play={agent} step={WHOLE} config={config} side="after" />
        ) : (
          <section className="board contest-waits" aria-label="The agent" data-side="after">
            <h2>The agent</h2>
            <p>{over ? 'plays …' : 'plays the same task when you are through.'}</p>
          </section>
        )}
      </div>
      <p className="line duel-line" role="status" data-testid="tally">
        Round {round} · You <b>{won.reader}</b> : <b>{won.agent}</b> the agent
        {over && agent && <span>{verdict(table, agent.episode.success, agent.episode.turns)}</span>}
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

function verdict(table: Table, success: boolean, turns: number): string {
  const { played } = table;
  const said = (won: boolean, taken: number) => (won ? counted(taken, 'turn') : 'not solved');
  return `You: ${said(played.success, played.paid.length)}. Agent: ${said(success, turns)}.`;
}

/** The board as far as the reader has come; what the agent does not know stays hidden until the end. */
function ReaderBoard({ table, config }: { readonly table: Table | null; readonly config: RunConfig }) {
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const played = table?.played;
  const over = played !== undefined && played.stop !== null;
  const drawn = played && (over || SHOWN_IN_PLAY.includes(played.view.kind));
  return (
    <section className="board contest-board" aria-label="You" data-side="before" data-solved={over && played.success}>
      <div className="line board-title">
        <h2>You</h2>
        <p className="board-outcome">{played && !over && `turn ${played.paid.length + 1} of ${config.maxTurns}`}</p>
      </div>
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
      <p className="token-line">{played?.question}</p>
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
function Pad({ table }: { readonly table: Table | null }) {
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
