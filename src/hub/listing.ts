import { isRecord } from '../base/jsonRecord.ts';
import { ProblemError } from '../base/problem.ts';

export interface HubFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string | null; // of the content; null if the hub doesn't state it
  readonly gitSha1: string | null; // git's SHA-1 of `blob <bytes>\0` and the content; null if there is a sha256
}

/** A model's files to download. */
export interface Listing {
  readonly id: string;
  readonly address: string; // of the model's page
  readonly revision: string; // commit
  readonly license: string | null;
  readonly files: readonly HubFile[];
}

/** The address of a hub, and the function for requests to it. */
export interface HubAccess {
  readonly hub: string; // address without a slash at the end
  readonly fetch: typeof fetch;
}

/** Names of the files that are needed to open a model. */
const NEEDED_FILES =
  /^(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|model\.safetensors\.index)\.json$|^(chat_template|additional_chat_templates\/[\w.-]+)\.jinja$|^README\.md$|^model(-\d+-of-\d+)?\.safetensors$/;
const MAX_FILE_BYTES = 8 * 2 ** 30;

/**
 * Asks the hub for the list of a model's files in its newest commit, a few kB. Throws ProblemError if the hub cannot be
 * reached, does not know the model, requires a login or sends something else.
 */
export async function listModel(
  id: string,
  { hub, fetch: request }: HubAccess,
  signal?: AbortSignal,
): Promise<Listing> {
  const address = `${hub}/api/models/${id}/revision/main?blobs=true`;
  let response: Response;
  try {
    response = await request(address, { signal: signal ?? null, credentials: 'omit' });
  } catch (error) {
    throw unreachableError(hub, error);
  }
  if (!response.ok) throw refusedError(response.status, `${hub}/${id}`);
  const answer: unknown = await response.json().catch(() => null);
  const listing = readListing(id, hub, answer);
  if (!listing) throw new ProblemError(`${address} did not answer with a list of files. Try again later.`);
  if (!listing.files.some(({ name }) => name.endsWith('.safetensors'))) {
    throw new ProblemError(`${hub}/${id} has no safetensors files. Choose another model.`);
  }
  return listing;
}

/** The error for a request that failed. */
export function unreachableError(hub: string, error: unknown): ProblemError {
  const why = error instanceof Error ? error.message : String(error);
  return new ProblemError(`${hub} could not be reached (${why}). Check that you are online, and try again.`);
}

/** The error for a request that the hub refused. */
export function refusedError(status: number, address: string): ProblemError {
  const why =
    status === 401 || status === 403
      ? 'it needs a login, which this page doesn’t have. Download it with the hub’s own program and drop the folder here.'
      : status === 404
        ? 'the file is no longer there. Download the model by hand and drop its folder here.'
        : status === 429
          ? 'too many requests from here. Wait a few minutes.'
          : 'Try again later.';
  return new ProblemError(`${address} answered ${status}: ${why}`);
}

function readListing(id: string, hub: string, answer: unknown): Listing | null {
  if (!isRecord(answer) || typeof answer['sha'] !== 'string' || !/^[0-9a-f]{40}$/.test(answer['sha'])) return null;
  const { siblings, cardData } = answer;
  if (!Array.isArray(siblings)) return null;
  const files: HubFile[] = [];
  for (const entry of siblings as readonly unknown[]) {
    if (!isRecord(entry) || typeof entry['rfilename'] !== 'string' || !NEEDED_FILES.test(entry['rfilename'])) continue;
    const lfs = isRecord(entry['lfs']) ? entry['lfs'] : {};
    const bytes = lfs['size'] ?? entry['size'];
    if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0 || bytes > MAX_FILE_BYTES) return null;
    const sha256 = digestOrNull(lfs['sha256'], 64);
    files.push({
      name: entry['rfilename'],
      bytes,
      sha256,
      gitSha1: sha256 === null ? digestOrNull(entry['blobId'], 40) : null,
    });
  }
  const license = isRecord(cardData) && typeof cardData['license'] === 'string' ? cardData['license'] : null;
  files.sort((a, b) => a.bytes - b.bytes); // small files first, so that problems with a model show early
  return { id, address: `${hub}/${id}`, revision: answer['sha'], license, files };
}

const digestOrNull = (value: unknown, length: number) =>
  typeof value === 'string' && new RegExp(`^[0-9a-f]{${length}}$`).test(value) ? value : null;
