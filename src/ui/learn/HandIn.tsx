import { useId } from 'react';
import { download, fileName } from '../../page/browser/fileDownload.ts';
import type { ChapterId } from '../../page/learn/chapters.ts';
import { classFileText } from '../../page/learn/classFile.ts';
import { saveProgress, useProgress } from '../../page/learn/chapterProgress.ts';
import { say } from '../../page/learn/catalogue.ts';

export function HandIn({ chapter }: { readonly chapter: ChapterId }) {
  const id = useId();
  const student = useProgress((s) => s.student);
  const results = useProgress((s) => s.results);
  const chapterResults = Object.fromEntries(Object.entries(results).filter(([key]) => key.startsWith(`${chapter}/`)));
  const name = student.trim();
  const missing = Object.keys(chapterResults).length === 0 ? say('nothingYet') : name === '' ? say('nameFirst') : '';
  const save = () => {
    const handIn = useProgress.getState().handIns + 1;
    saveProgress({ handIns: handIn });
    const text = classFileText({ chapter, name, handIn, saved: new Date().toISOString(), results: chapterResults });
    download(fileName(`${chapter} ${name}`, 'json'), 'application/json', text);
  };
  return (
    <details className="subgroup hand-in">
      <summary>
        <h4>{say('handIn')}</h4>
      </summary>
      <p className="small">{say('handInNote')}</p>
      <div className="row">
        <label htmlFor={id}>{say('name')}</label>
        <input
          id={id}
          type="text"
          maxLength={60}
          autoComplete="off"
          value={student}
          onChange={({ target }) => saveProgress({ student: target.value })}
        />
        <button type="button" disabled={missing !== ''} onClick={save}>
          {say('save')}
        </button>
        <span className="small faint">{missing}</span>
      </div>
    </details>
  );
}

export function HandInLink() {
  const open = () => {
    const box = document.querySelector<HTMLDetailsElement>('details.hand-in');
    if (!box) return;
    box.open = true;
    box.scrollIntoView({ block: 'end' });
    box.querySelector('input')?.focus({ preventScroll: true });
  };
  return (
    <button type="button" className="quiet small to-hand-in" onClick={open}>
      {say('toHandIn')}
    </button>
  );
}
