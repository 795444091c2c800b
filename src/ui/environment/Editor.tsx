import { useEffect, useRef } from 'react';
import { showEditor } from './editorView.ts';

interface Props {
  readonly label: string;
  readonly describedBy: string; // id of what says how to leave it by keys
}

/** The text of the file, to be written in. */
export function Editor({ label, describedBy }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => (box.current ? showEditor(box.current, { label, describedBy }) : undefined), [label, describedBy]);
  return <div ref={box} className="editor" />;
}
