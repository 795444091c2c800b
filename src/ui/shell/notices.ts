import { create } from 'zustand';

/** What the reader should know on whatever screen, once: mostly that something this browser kept could not be read. */
export const useNotices = create<{ readonly sentences: readonly string[] }>()(() => ({ sentences: [] }));

/** Says a sentence; one that is there is not said twice. */
export function notice(sentence: string): void {
  useNotices.setState(({ sentences }) =>
    sentences.includes(sentence) ? { sentences } : { sentences: [...sentences, sentence] },
  );
}

/** The reader has seen them. */
export function dismissNotices(): void {
  useNotices.setState({ sentences: [] });
}
