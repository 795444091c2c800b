import { parseDecimal } from '../base/decimal.ts';
import { visible } from '../base/visible.ts';
import { classNameOf, type EnvironmentFile, EnvironmentFileError } from './environmentFile.ts';

/** It can't be reached, is full or too slow, or sends what can't be read. It has its own class because no line of a file is to blame. */
export class EnvironmentServerError extends EnvironmentFileError {
  override readonly name = 'EnvironmentServerError';

  constructor(what: string) {
    super(what, null);
  }
}

/** An option in the query of a server's address: `ws://127.0.0.1:8000/ws?turns=8`. */
interface Option {
  readonly doc: string;
  readonly min: number;
  readonly max: number;
  readonly isWhole: boolean; // true: only whole numbers
  readonly defaultValue: number | null; // null: there is none
}

/** The options of an address. The server doesn't read them. */
const SERVER_OPTIONS = {
  train: { doc: 'training tasks of its Task API', min: 1, max: 1e6, isWhole: true, defaultValue: null },
  test: { doc: 'test tasks of its Task API', min: 1, max: 1e6, isWhole: true, defaultValue: null },
  turns: { doc: 'most turns of an episode', min: 1, max: 64, isWhole: true, defaultValue: 6 },
  observation: { doc: 'most tokens of a tool’s answer', min: 8, max: 2048, isWhole: true, defaultValue: 64 },
  solved: { doc: 'sum of rewards from which an episode counts as solved', min: -1e6, max: 1e6, isWhole: false, defaultValue: 1 }, // prettier-ignore
  seconds: { doc: 'longest wait for one answer', min: 1, max: 600, isWhole: false, defaultValue: 30 },
} as const satisfies Record<string, Option>;

type OptionName = keyof typeof SERVER_OPTIONS;
type OptionValue<N extends OptionName> = (typeof SERVER_OPTIONS)[N]['defaultValue'] extends null
  ? number | null
  : number;

/** The address of an OpenEnv server on this machine, and how its tasks are played. */
export interface ServerAddress {
  readonly text: string; // the address with its options
  readonly url: string; // the address without its options
  readonly host: string; // name and port
  readonly options: { readonly [N in OptionName]: OptionValue<N> };
}

/** Whether a text is the address of a server, as opposed to a program. */
export function isServerAddress(text: string): boolean {
  return /^\s*wss?:\/\/\S*\s*$/i.test(text);
}

/** Name and port of the server whose address is in the file. Null if there is no file or it holds a program. */
export function serverNamed(file: EnvironmentFile | null | undefined): string | null {
  if (!file || !isServerAddress(file.text)) return null;
  return visible(/\/\/([^/?#]*)/.exec(file.text)?.[1] ?? '');
}

/** The title of an environment that a person wrote: the name of its class, or of its server. */
export function environmentTitle(file: EnvironmentFile): string {
  return serverNamed(file) ?? classNameOf(file);
}

const EXAMPLE = 'ws://127.0.0.1:8000/ws';
const MAX_ADDRESS_LENGTH = 500;
const LOCAL_HOSTS: readonly string[] = ['127.0.0.1', 'localhost'];

/** Parses an address. Throws EnvironmentServerError if it is invalid or isn't on this machine. */
export function readServerAddress(address: string): ServerAddress {
  const text = address.trim();
  const shown = visible(text);
  if (text === '') throw new EnvironmentServerError(`Write the server’s address, such as ${EXAMPLE}.`);
  if (/^https?:/i.test(text)) {
    throw new EnvironmentServerError(`${shown} is an address of pages. Write ws:// in place of http://: ${EXAMPLE}.`);
  }
  const url = text.length <= MAX_ADDRESS_LENGTH && URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^wss?:$/.test(url.protocol)) {
    throw new EnvironmentServerError(`${shown} isn’t a server’s address. Write one like ${EXAMPLE}.`);
  }
  if (url.protocol !== 'ws:' || !LOCAL_HOSTS.includes(url.hostname)) {
    throw new EnvironmentServerError(
      `${shown} isn’t on this machine, so nothing is sent to it. Only ws://127.0.0.1 and ws://localhost are allowed. Run the server here, or forward its port: ssh -L 8000:localhost:8000 HOST.`,
    );
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new EnvironmentServerError(`${shown} holds a user’s name or a “#”. Leave them out: ${EXAMPLE}.`);
  }
  const values: Partial<Record<OptionName, number>> = {};
  for (const [name, value] of url.searchParams) {
    if (!isOption(name)) {
      const names = Object.keys(SERVER_OPTIONS).join(', ');
      throw new EnvironmentServerError(`“${visible(name)}” isn’t an option of an address. The options are ${names}.`);
    }
    const { doc, min, max, isWhole } = SERVER_OPTIONS[name];
    const number = parseDecimal(value) ?? NaN;
    if (!(number >= min && number <= max) || (isWhole && !Number.isInteger(number))) {
      throw new EnvironmentServerError(
        `${name}=${visible(value)} (${doc}) isn’t a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}.`,
      );
    }
    values[name] = number;
  }
  if (url.pathname === '/') url.pathname = '/ws';
  const withOptions = url.href;
  url.search = '';
  const value = <N extends OptionName>(name: N) =>
    (values[name] ?? SERVER_OPTIONS[name].defaultValue) as OptionValue<N>;
  return {
    text: withOptions,
    url: url.href,
    host: url.host,
    options: {
      train: value('train'),
      test: value('test'),
      turns: value('turns'),
      observation: value('observation'),
      solved: value('solved'),
      seconds: value('seconds'),
    },
  };
}

function isOption(name: string): name is OptionName {
  return Object.hasOwn(SERVER_OPTIONS, name);
}

/** So that the address is saved and sent with a run like a file. Nothing connects until a run begins. */
export function serverFile({ host, text }: ServerAddress): EnvironmentFile {
  return { name: host, text };
}
