import { isBesideLogs, isMetricLog, logHead, logOfPart } from '../../metricLogs/logFiles.ts';
import { ROLLOUT_FILE } from '../../rollouts/fileRefusal.ts';
import { inReadingOrder } from '../../rollouts/readingOrder.ts';
import type { PickedFile } from '../../wire/readerMessages.ts';

/** A file in the watched folder, as scripts/watchedFolder.mjs lists it. */
export interface ListedFile {
  readonly path: string;
  readonly size: number; // bytes
  readonly stamp: string; // tells files apart that had the same name one after the other
  readonly changed: number; // ms since 1970
  readonly refused?: string; // why it is not handed out
}

export interface FolderList {
  readonly folder: string;
  readonly now: number; // ms since 1970, by the clock of the folder's machine
  readonly missing: boolean; // the folder isn't there
  readonly leftOut: boolean; // it has more files than are listed
  readonly files: readonly ListedFile[];
}

/** What has changed since the last look at the folder. */
export interface FolderChange {
  readonly files: readonly PickedFile[]; // new, grown or written anew
  readonly logs: readonly PickedFile[]; // logs of metrics among these, with all parts of a rotated one
  readonly gone: readonly string[]; // keys of files that a job has left behind when it started over
}

/** The bytes of a file from one on. Rejects if it has vanished. */
export type ReadFrom = (path: string, from: number) => Promise<Blob>;

interface HeldFile {
  readonly key: string;
  readonly listed: ListedFile; // as it was when it was fetched
  readonly file: Blob;
  readonly isLog: boolean;
}

const COMPARED_BYTES = 256; // fetched again, to tell a file that grew from one that was written anew
const QUIET_MS = 300; // after which a file that is read as a whole counts as finished
const FETCHED_AT_ONCE = 32; // files
const WHOLE = /\.(?:parquet|zst|gz)$/i; // such a file doesn't grow: it is read as a whole
const WRITTEN_AT_ONCE = /\.(?:parquet|zst|gz|json)$/i;
const unsealed = (path: string) => path.replace(/\.(?:zst|gz)$/i, '');

/** Finds what has changed in a folder from one list of it to the next, and fetches only what was added. */
export class FolderWatch {
  readonly #readFrom: ReadFrom;
  readonly #held = new Map<string, HeldFile>(); // by path
  #keys = 0;
  #startedOver = false;

  constructor(readFrom: ReadFrom) {
    this.#readFrom = readFrom;
  }

  /** The changes that a list shows, a few files at a time. A file that can't be fetched now is left to the next list. */
  async *changes({ files: all, now, missing }: FolderList): AsyncGenerator<FolderChange> {
    if (missing) return; // what was read of it stays
    const files = inReadingOrder(all);
    const paths = new Set(files.map(({ path }) => path));
    await this.#followRenamed(files);
    const due = files.filter((listed) => {
      const held = this.#heldAs(listed, paths)?.listed;
      const isSame = held?.size === listed.size && held.changed === listed.changed && held.stamp === listed.stamp;
      const isWhole = !WRITTEN_AT_ONCE.test(listed.path) || Math.abs(now - listed.changed) >= QUIET_MS;
      // while a file is being compressed, both are there
      const isBeingSealed = paths.has(unsealed(listed.path)) && unsealed(listed.path) !== listed.path;
      return listed.size > 0 && !listed.refused && !isBesideLogs(listed.path) && !isSame && isWhole && !isBeingSealed;
    });
    for (let at = 0; at < due.length; at += FETCHED_AT_ONCE) {
      const fetches = due
        .slice(at, at + FETCHED_AT_ONCE)
        .map((listed) => this.#fetched(listed, paths).catch(() => null));
      const fetched = (await Promise.all(fetches)).flatMap((held) => held ?? []);
      const changed = new Set(fetched.flatMap((held) => (held.isLog ? logOfPart(held.listed.path) : [])));
      const picked = (held: readonly HeldFile[]) =>
        held.map(({ key, listed: { path }, file }) => ({ key, path, file }));
      yield {
        files: picked(fetched.filter((held) => !held.isLog && ROLLOUT_FILE.test(held.listed.path))),
        logs: picked([...this.#held.values()].filter((held) => held.isLog && changed.has(logOfPart(held.listed.path)))),
        gone: this.#leftBehind(paths),
      };
    }
  }

  #heldAs({ path }: ListedFile, paths: ReadonlySet<string>): HeldFile | undefined {
    const before = paths.has(unsealed(path)) ? undefined : this.#held.get(unsealed(path)); // it has been compressed since
    return this.#held.get(path) ?? before;
  }

  /** Files that were rotated have another name and go on under it. */
  async #followRenamed(files: readonly ListedFile[]): Promise<void> {
    const stamps = new Map(files.map((listed) => [listed.path, listed.stamp]));
    for (const listed of files.toReversed()) {
      // from the highest number on: `log.jsonl.1` may have become `log.jsonl.2`
      if (this.#held.has(listed.path) || WHOLE.test(listed.path)) continue;
      for (const [path, held] of this.#held) {
        const { stamp, size } = held.listed;
        const isSealed = stamps.has(`${path}.zst`) || stamps.has(`${path}.gz`);
        if (stamp !== listed.stamp || size > listed.size || stamps.get(path) === stamp || isSealed) continue;
        const rest = await this.#added(held, listed).catch(() => null);
        if (rest === null) continue; // a new file in the place of one that was removed
        this.#held.delete(path);
        this.#held.set(listed.path, { ...held, listed: { ...held.listed, path: listed.path } });
        break;
      }
    }
  }

  /** What was added to a file since it was fetched; null if it doesn't carry on where that ended. */
  async #added({ file }: HeldFile, { path }: ListedFile): Promise<Blob | null> {
    const from = Math.max(0, file.size - COMPARED_BYTES);
    const rest = await this.#readFrom(path, from);
    const compared = file.size - from;
    const [before, now] = await Promise.all([file.slice(from).text(), rest.slice(0, compared).text()]);
    return before === now ? rest.slice(compared) : null;
  }

  async #fetched(listed: ListedFile, paths: ReadonlySet<string>): Promise<HeldFile> {
    const held = this.#heldAs(listed, paths);
    const isSealed =
      held !== undefined && unsealed(listed.path) === held.listed.path && listed.path !== held.listed.path;
    const grew = held && !isSealed && !WHOLE.test(listed.path) && listed.size >= held.file.size;
    const added = grew ? await this.#added(held, listed) : null;
    const file = held && added ? new Blob([held.file, added]) : await this.#readFrom(listed.path, 0);
    const isLog = held?.isLog ?? isMetricLog(unsealed(listed.path), await logHead(file));
    // a log such as trainer_state.json is written anew at each step
    if (held && !isSealed && added === null && !isLog) this.#startedOver = true;
    if (isSealed) this.#held.delete(held.listed.path);
    const now = { key: held?.key ?? `${this.#keys++}`, listed: { ...listed, size: file.size }, file, isLog };
    this.#held.set(listed.path, now);
    return now;
  }

  /** Files that are no longer there. They count until a job starts over, which shows by a file that was written anew. */
  #leftBehind(paths: ReadonlySet<string>): readonly string[] {
    if (!this.#startedOver) return [];
    this.#startedOver = false;
    const gone = Array.from(this.#held).filter(([path]) => !paths.has(path));
    for (const [path] of gone) this.#held.delete(path);
    return gone.map(([, { key }]) => key);
  }
}
