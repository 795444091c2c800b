import type { FolderList } from './folderWatch.ts';

/** What the server says when it refuses: a sentence. */
export class Refusal extends Error {}

/**
 * The files of this machine that the command `rollout-playground` hands to the page under the token in its address: a
 * folder that a job writes into, or files that were named. See scripts/watchedFolder.mjs. Both methods throw a Refusal
 * if the server refuses, and another Error if it doesn't answer.
 */
export class ServedFiles {
  readonly token: string;

  constructor(token: string) {
    this.token = token;
  }

  get #base(): string {
    return new URL(`watched/${encodeURIComponent(this.token)}`, location.href.replace(/[?#].*/s, '')).href;
  }

  async list(): Promise<FolderList> {
    return (await (await answerOf(this.#base)).json()) as FolderList;
  }

  /** The bytes of a file from one on. */
  async read(path: string, from = 0): Promise<Blob> {
    const address = `${this.#base}/${path.split('/').map(encodeURIComponent).join('/')}`;
    const response = await answerOf(address, from > 0 ? { range: `bytes=${from}-` } : {});
    if (from > 0 && response.status !== 206) throw new Error('the whole file in place of its end');
    return response.blob();
  }
}

async function answerOf(address: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const response = await fetch(address, { cache: 'no-store', headers });
  if (response.ok) return response;
  throw new Refusal((await response.text()).trim());
}
