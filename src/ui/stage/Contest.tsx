import { useEffect, useRef } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { EnvView } from '../../domain/envView.ts';
import type { Recording } from '../../runs/recording.ts';
import { Drawing } from '../drawings/Drawing.tsx';
import { Icon } from '../parts/Icon.tsx';
import { useSize } from '../parts/useSize.ts';
import { type GameState, useGame, write, playTask } from '../play/game.ts';
import { Board, outcome, Outcome, WIDE_ASPECT } from './Board.tsx';
import { type SideResult, type Play, playOf } from './play.ts';
import { useStage, WHOLE } from './stageStore.ts';
import { create } from 'zustand';
import { playQuestion } from '../../wire/playQuestion.ts';
import { reply } from '../run/inspect.ts';
import { question } from '../run/transport.ts';
import { followedSeeds, otherSeeds } from './recordedTasks.ts';

interface Props {
  readonly recording: Recording;
  readonly own: boolean; // the agent is the reader's own run
}

/** Kinds of drawings that don't reveal the solution while someone plays. */
const SHOWN_IN_PLAY: readonly EnvView['kind'][] = ['number-line', 'grid', 'sum'];

/** A contest: the reader plays a task with buttons, then the agent plays the same task. */
export function Contest({ recording, own }: Props) {
  const config = recording.begun;
  const { round, agent, won } = useContest();
  const table = useGame((s) => s.table);
  const problem = useGame((s) => s.problem);
  useEffect(() => {
    beginContest(recording, recording.begun, own);
    return endContest;
  }, [recording, own]);
  const reader = table && resultOf(table);
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

/** The reader's result; null before the end. */
function resultOf({ played: { stop, success, paid } }: GameState): SideResult | null {
  return stop === null ? null : { success, turns: paid.length };
}

interface ReaderProps {
  readonly table: GameState | null;
  readonly config: RunConfig;
  readonly won: boolean; // whether the reader won the round
}

/** The reader's board. Everything that the agent wouldn't know stays hidden until the end. */
function ReaderBoard({ table, config, won }: ReaderProps) {
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const played = table?.played;
  const result = table && resultOf(table);
  const over = result !== null;
  const drawn = played && (over || SHOWN_IN_PLAY.includes(played.view.kind));
  return (
    <section
      className="board contest-board"
      aria-label="You"
      data-side="before"
      data-solved={result?.success ?? false}
      data-glows={won}
    >
      <div className="line board-title">
        <h2>You</h2>
        <p className="line board-outcome">
          {result ? <Outcome {...result} /> : played && `turn ${played.paid.length + 1} of ${config.maxTurns}`}
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
            wide={width > WIDE_ASPECT * height}
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

/** One button for each possible next choice: numbers, directions of a walk, or words to look up. */
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

interface ContestState {
  readonly round: number; // from 1; 0 before the first
  readonly agent: Play | null; // the agent's play of the task; null until the reader has finished
  readonly won: { readonly reader: number; readonly agent: number };
}

/** The state of the contest: the current round, and how many rounds each side has won. */
const useContest = create<ContestState>()(() => ({ round: 0, agent: null, won: { reader: 0, agent: 0 } }));

/** The winner of a round: the one who solved it, or if both did, the one who took fewer turns; null for a draw. */
export function winner(reader: SideResult, agent: SideResult): 'reader' | 'agent' | null {
  const turns = ({ success, turns: count }: SideResult) => (success ? count : Infinity);
  if (turns(reader) === turns(agent)) return null;
  return turns(reader) < turns(agent) ? 'reader' : 'agent';
}

/** The words that can be written next. Empty if there is only one, because that is written automatically. */
function choicesOf({ vocabulary, played }: GameState): readonly { readonly id: number; readonly word: string }[] {
  if (played.stop !== null || played.legal.length < 2) return [];
  return played.legal.map((id) => ({ id, word: played.names.get(id) ?? vocabulary[id] ?? '' }));
}

let unsubscribe: (() => void) | null = null;

/** Starts a contest with its first round. */
function beginContest(recording: Recording, config: RunConfig, own: boolean): void {
  useContest.setState({ round: 0, won: { reader: 0, agent: 0 } });
  nextRound(recording, config, own);
}

/** Starts a round with another task. The agent comes from the reader's run if `own`, otherwise from the recording. */
function nextRound(recording: Recording, config: RunConfig, own: boolean): void {
  endContest();
  const others = otherSeeds(recording);
  const seeds = others.length > 0 ? others : followedSeeds(recording);
  const { round } = useContest.getState();
  const seed = seeds[round % seeds.length];
  if (seed === undefined) return;
  useContest.setState({ round: round + 1, agent: null });
  unsubscribe = useGame.subscribe(({ table, tokens }, before) => {
    if (!table || table === before.table || table.tokens !== tokens) return;
    const [only, more] = table.played.legal;
    if (table.played.stop !== null) void finish(table, recording, config, seed, own);
    else if (only !== undefined && more === undefined) write(only);
  });
  playTask({ config, seed, environmentSeed: seed, agent: null });
}

/** Stops following the game. */
function endContest(): void {
  unsubscribe?.();
  unsubscribe = null;
}

async function finish(table: GameState, recording: Recording, config: RunConfig, seed: number, own: boolean) {
  endContest();
  const { round } = useContest.getState();
  const agent = own ? await ownPlay(seed, config) : recordedPlay(recording, seed);
  if (!agent || useContest.getState().round !== round) return;
  const { success, paid } = table.played;
  const first = winner({ success, turns: paid.length }, agent.episode);
  useContest.setState(({ won }) => ({ agent, won: first ? { ...won, [first]: won[first] + 1 } : won }));
}

function recordedPlay({ plays, vocabulary }: Recording, seed: number): Play | null {
  const last = plays.at(-1);
  return last ? playOf(last.batch, vocabulary, seed, last.update) : null;
}

async function ownPlay(seed: number, config: RunConfig): Promise<Play | null> {
  const got = reply(await question(playQuestion(seed, config)), 'talk');
  return got.ok ? playOf(got.answer.said, got.answer.vocabulary, seed, 0) : null;
}
