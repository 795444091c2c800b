import { useState, type DragEvent } from 'react';
import { readFacts } from '../../page/training/factsStore.ts';

export function FactsDrop() {
  const [isDraggedOver, setOver] = useState(false);
  const onDrag = (inside: boolean) => (event: DragEvent) => {
    if (event.dataTransfer.types.includes('Files')) setOver(inside);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the file input inside works without a mouse
    <label
      className="stack drop"
      data-over={isDraggedOver}
      onDragEnter={onDrag(true)}
      onDragLeave={onDrag(false)}
      onDrop={() => setOver(false)}
    >
      <span>Drop a CSV file, or choose one</span>
      <input
        type="file"
        accept=".csv,.tsv,.txt,text/csv"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file) void readFacts(file);
          currentTarget.value = ''; // the same file can be chosen again once it is fixed
        }}
      />
    </label>
  );
}
