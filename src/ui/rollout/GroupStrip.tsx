import type { KeyboardEvent } from 'react';
import type { EpisodeView } from '../../domain/episode.ts';
import { useCurrent } from '../run/currentRollout.ts';
import { short } from '../parts/numberText.ts';
import { live } from '../run/liveStore.ts';
import { selectRow, useSelection } from '../shell/selectionStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { GroupSummary } from './GroupSummary.tsx';
import { NoRollouts } from './NoRollouts.tsx';

/** Chooses a task of the batch and one of its rollouts; says what the group can teach. */
export function GroupStrip() {
  const { batch, episode } = useCurrent();
  const preview = useSelection((s) => s.preview);
  const group = episode?.group ?? 0;
  const members = batch.episodes.filter((e) => e.group === group);
  const groups = new Set(batch.episodes.map((e) => e.group)).size;
  const go = (to: number) => {
    const first = batch.episodes.find((e) => e.group === (to + groups) % groups);
    if (first) selectRow(first.row);
  };
  if (batch.rows === 0) {
    return <NoRollouts />;
  }
  return (
    <section className="group-strip" aria-label="Rollouts of one task" data-testid="group">
      <div className="line group-head">
        {live.isExample && <span className="chip example">recording</span>}
        <span className="chip">update {batch.update}</span>
        <span className="cut strong question" title={episode?.question}>
          {episode?.question}
        </span>
        {groups > 1 && (
          <span className="line small group-nav">
            <button
              type="button"
              className="quiet icon-button small"
              aria-label="Previous task"
              onClick={() => go(group - 1)}
            >
              <Icon name="left" />
            </button>
            <GroupMenu episodes={batch.episodes} group={group} go={go} />
            <button
              type="button"
              className="quiet icon-button small"
              aria-label="Next task"
              onClick={() => go(group + 1)}
            >
              <Icon name="right" />
            </button>
          </span>
        )}
      </div>
      <div className="row rollouts">
        <Chips members={members} kept={preview?.of === batch ? preview.batch.kept : batch.kept} />
        <GroupSummary
          members={members}
          chosen={episode}
          kept={episode === undefined || isKept(batch.kept, episode.row)}
        />
      </div>
    </section>
  );
}

function GroupMenu(props: {
  readonly episodes: readonly EpisodeView[];
  readonly group: number;
  readonly go: (g: number) => void;
}) {
  const solved = new Map<number, { done: number; all: number }>();
  for (const { group, success } of props.episodes) {
    const entry = solved.get(group) ?? { done: 0, all: 0 };
    solved.set(group, { done: entry.done + (success ? 1 : 0), all: entry.all + 1 });
  }
  return (
    <select
      className="small"
      aria-label="Task"
      value={props.group}
      onChange={(event) => props.go(Number(event.target.value))}
    >
      {[...solved].map(([group, { done, all }]) => (
        <option key={group} value={group}>
          task {group + 1} of {solved.size} · {done}/{all} solved
        </option>
      ))}
    </select>
  );
}

/** Whether the update learned from a row: its prompt was not filtered out. */
function isKept(kept: Uint8Array, row: number): boolean {
  return kept[row] !== 0;
}

interface ChipsProps {
  readonly members: readonly EpisodeView[];
  readonly kept: Uint8Array;
}

function Chips({ members, kept }: ChipsProps) {
  const row = useSelection((s) => s.row);
  const lit = useSelection((s) => s.lit?.group ?? false);
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const at = members.findIndex((e) => e.row === row);
    const to = members[(at + by + members.length) % members.length];
    if (by === 0 || !to) return;
    event.preventDefault();
    selectRow(to.row);
    const button = event.currentTarget.querySelector(`[data-row="${to.row}"]`);
    if (button instanceof HTMLElement) button.focus();
  };
  return (
    <div className="row chips" role="toolbar" aria-label="Rollouts" tabIndex={-1} onKeyDown={onKey}>
      {members.map((e, i) => (
        <button
          key={e.row}
          type="button"
          className="rollout-chip"
          data-row={e.row}
          data-success={e.success}
          data-kept={isKept(kept, e.row)}
          data-lit={lit && isKept(kept, e.row)}
          aria-pressed={e.row === row}
          aria-label={`Rollout ${i + 1}: ${e.success ? 'solved' : 'not solved'}, reward ${short(e.reward)}, ended: ${e.stop}${isKept(kept, e.row) ? '' : ', not trained (filtered)'}`}
          tabIndex={e.row === row ? 0 : -1}
          onClick={() => selectRow(e.row)}
        >
          <Icon name={e.success ? 'check' : 'cross'} />
          <span>{short(e.reward)}</span>
        </button>
      ))}
    </div>
  );
}
