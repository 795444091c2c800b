import { useState, type DragEvent } from 'react';
import { readFacts } from './factsStore.ts';

/** Takes a file of facts: dropped on it, or chosen. */
export function FactsDrop() {
  const [over, setOver] = useState(false);
  const onDrag = (inside: boolean) => (event: DragEvent) => {
    if (event.dataTransfer.types.includes('Files')) setOver(inside);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- whoever has no mouse chooses the file in it
    <label
      className="stack drop"
      data-over={over}
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
          currentTarget.value = ''; // the same file can be chosen again once it is mended
        }}
      />
    </label>
  );
}
