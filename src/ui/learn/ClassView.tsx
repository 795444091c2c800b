import { Fragment, lazy, Suspense, useRef } from 'react';
import { download } from '../../page/browser/fileDownload.ts';
import { Icon } from '../parts/Icon.tsx';
import { chosenFiles } from '../../page/browser/filesWithPaths.ts';
import { CHAPTERS, chapterNamed } from '../../page/learn/chapters.ts';
import { addFiles, clearClass, useClass } from '../../page/learn/classStore.ts';
import { classCsv, classTable, type Column, type StudentResults } from '../../page/learn/classTable.ts';
import { verdictOf } from '../../page/learn/exercise.ts';
import { learnHash } from '../../page/learn/learnAddress.ts';
import { useProgress } from '../../page/learn/chapterProgress.ts';
import { formattedNumber } from '../../page/learn/fill.ts';
import { exerciseText, say } from '../../page/learn/catalogue.ts';
import { CHAPTER_TEXTS } from '../../page/learn/chapterTexts.ts';

const ClassPlot = lazy(() => import('./ClassPlot.tsx').then((m) => ({ default: m.ClassPlot })));

export function ClassView() {
  const files = useClass((s) => s.files);
  const last = useProgress((s) => chapterNamed(s.last)?.id ?? CHAPTERS[0].id);
  const { columns, students } = classTable(files);
  return (
    <article className="stack" aria-labelledby="class-title" data-testid="class">
      <div className="row between">
        <h2 id="class-title">{say('classTitle')}</h2>
        <a href={learnHash(last)}>{say('backToChapters')}</a>
      </div>
      <p className="class-note">{say('classNote')}</p>
      <Files />
      <Problems />
      {files.length === 0 ? (
        <p className="empty">{say('noFiles')}</p>
      ) : (
        <>
          <ClassTable columns={columns} students={students} />
          <Suspense>
            <ClassPlot columns={columns} students={students} />
          </Suspense>
        </>
      )}
    </article>
  );
}

function Files() {
  const files = useClass((s) => s.files);
  const input = useRef<HTMLInputElement>(null);
  const studentCount = classTable(files).students.length;
  return (
    <div className="row card class-files">
      <button type="button" className="primary" onClick={() => input.current?.click()}>
        {say('chooseFiles')}
      </button>
      <span className="faint">{say('dropHere')}</span>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        multiple
        hidden
        aria-label={say('chooseFiles')}
        onChange={({ target }) => {
          void addFiles(chosenFiles(target.files));
          target.value = ''; // the same file can be chosen again
        }}
      />
      {files.length > 0 && (
        <>
          <span className="end" role="status">
            {say('merged', { files: files.length, students: studentCount })}
          </span>
          <button type="button" onClick={() => download('class.csv', 'text/csv', classCsv(files))}>
            {say('csv')}
          </button>
          <button type="button" className="quiet" onClick={clearClass}>
            {say('clear')}
          </button>
        </>
      )}
    </div>
  );
}

function Problems() {
  const problems = useClass((s) => s.problems);
  if (problems.length === 0) return null;
  return (
    <div className="note" role="alert">
      <b>{say('problems')}</b>
      <ul>
        {problems.map(({ word, values }, i) => {
          const named = values['chapter'];
          const chapter = typeof named === 'string' ? chapterNamed(named)?.id : undefined;
          return (
            <li key={`${i} ${word}`}>
              {say(word, { ...values, ...(chapter && { chapter: CHAPTER_TEXTS[chapter].title }) })}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

interface TableProps {
  readonly columns: readonly Column[];
  readonly students: readonly StudentResults[];
}

function ClassTable({ columns, students }: TableProps) {
  return (
    <div className="scroll" role="region" aria-label={say('tableCaption')} tabIndex={0}>
      <table className="ruled class-table">
        <caption>{say('tableCaption')}</caption>
        <thead>
          <tr>
            <th scope="col" rowSpan={2}>
              {say('student')}
            </th>
            {columns.map(({ chapter, exercise, key }) => (
              <th key={key} scope="colgroup" colSpan={2}>
                {CHAPTER_TEXTS[chapter].title}
                <span className="below faint">{exerciseText(chapter, exercise.id).task}</span>
              </th>
            ))}
          </tr>
          <tr>
            {columns.map(({ key }) => (
              <Fragment key={key}>
                <th scope="col">{say('prediction')}</th>
                <th scope="col">{say('result')}</th>
              </Fragment>
            ))}
          </tr>
        </thead>
        <tbody>
          {students.map(({ name, results }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {columns.map((column) => (
                <Cells key={column.key} result={results[column.key]} column={column} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellsProps {
  readonly result: StudentResults['results'][string] | undefined;
  readonly column: Column;
}

function Cells({ result, column: { chapter, exercise } }: CellsProps) {
  if (!result) {
    return (
      <td className="faint" colSpan={2}>
        {say('notDone')}
      </td>
    );
  }
  const verdict = verdictOf(result);
  return (
    <>
      <td>{exerciseText(chapter, exercise.id).choices[result.predicted]}</td>
      <td data-verdict={verdict}>
        <span className="line">
          <Icon name={verdict === 'right' ? 'check' : verdict === 'wrong' ? 'cross' : 'minus'} />
          <span className="visually-hidden">{say(verdict)}</span>
          {formattedNumber(result.numbers[exercise.headlineNumber], exercise.format)}
        </span>
      </td>
    </>
  );
}
