import { isNestedTooDeep, isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import { visible } from '../base/visible.ts';
import { MAX_REWARD } from '../domain/episode.ts';
import { EnvironmentServerError } from '../domain/serverAddress.ts';
import { jsonLine } from '../text/toolSchema.ts';

/** Limit on the characters of a message. A longer message ends the connection. */
export const MAX_MESSAGE_LENGTH = 1_000_000;
/**
 * Number of characters that are read of a text, such as a prompt or a tool's answer. The limit in tokens is applied
 * later.
 */
const MAX_TEXT_LENGTH = 20_000;
const MAX_ERROR_LENGTH = 200;

export type ServerMessage =
  | { readonly type: 'reset'; readonly data: JsonRecord }
  | { readonly type: 'step'; readonly data: JsonRecord }
  | { readonly type: 'close' };

/** A message from an OpenEnv server. */
export type ServerReply =
  | {
      readonly kind: 'observation';
      readonly observation: JsonRecord;
      readonly reward: number; // 0 if the server sent none
      readonly done: boolean;
    }
  | {
      readonly kind: 'error';
      readonly code: string;
      readonly message: string; // the error message, as one line
      readonly sessions: number | null; // the server's limit of sessions, if it sent one
    };

/** Reads a message of a server. Throws EnvironmentServerError if it isn't a message of OpenEnv. */
export function readReply(data: unknown): ServerReply {
  if (typeof data !== 'string') throw unreadable('it sent bytes, not text');
  if (data.length > MAX_MESSAGE_LENGTH) {
    throw unreadable(`it sent a message of ${data.length} characters, and the limit is ${MAX_MESSAGE_LENGTH}`);
  }
  if (isNestedTooDeep(data)) throw unreadable('it sent lists or objects that are nested over 500 deep');
  let message: unknown;
  try {
    message = JSON.parse(data);
  } catch {
    throw unreadable(`it said ${visible(data, 60)}, which isn’t JSON`);
  }
  const content = isRecord(message) ? message['data'] : null;
  if (!isRecord(message) || !isRecord(content)) throw unreadable(`it said ${visible(data, 60)}`);
  if (message['type'] === 'error') {
    const { code, message: why, max_sessions: sessions } = content;
    return {
      kind: 'error',
      code: typeof code === 'string' ? code : '',
      message: oneLine(typeof why === 'string' ? why : jsonLine(content)),
      sessions: typeof sessions === 'number' ? sessions : null,
    };
  }
  const { observation, reward = null, done } = content;
  if (message['type'] !== 'observation' || !isRecord(observation)) throw unreadable(`it said ${visible(data, 60)}`);
  if (reward !== null && (typeof reward !== 'number' || Math.abs(reward) > MAX_REWARD)) {
    throw unreadable(`its reward is ${visible(JSON.stringify(reward), 60)}, which isn’t a number up to a million`);
  }
  return { kind: 'observation', observation, reward: reward ?? 0, done: done === true };
}

function unreadable(detail: string): EnvironmentServerError {
  return new EnvironmentServerError(
    `The server can’t be understood: ${detail}. Check that an OpenEnv server listens at this address.`,
  );
}

/**
 * The line of an error text that says what is wrong: the last one if the text is a Python stack trace, otherwise the
 * first.
 */
function oneLine(text: string): string {
  const lines = text
    .slice(0, MAX_TEXT_LENGTH)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  const trace = lines.some((line) => line.startsWith('Traceback (most recent call last)'));
  return visible((trace ? lines.at(-1) : lines[0])?.trim() ?? '', MAX_ERROR_LENGTH);
}

/** The text of an observation, for the agent. */
export interface ObservationText {
  readonly text: string;
  readonly refused: boolean; // a call was rejected
}

/** Fields in which environments put their text, the most likely first. */
const TEXT_FIELDS = ['text', 'prompt', 'question', 'message', 'content', 'output', 'observation', 'response'] as const;
const NOT_TEXT: readonly string[] = ['metadata', 'tool_name', 'refused', 'turn_reward', 'rewards', 'error', 'result'];

/**
 * Reads the text of an observation. OpenEnv's environments have it in one of two places: the result of a tool (MCP), or
 * a text field.
 */
export function observationText(observation: JsonRecord): ObservationText {
  const { error, result, refused } = observation;
  if (error !== null && error !== undefined) {
    const why = isRecord(error) ? error['message'] : error;
    return { text: oneLine(typeof why === 'string' ? why : jsonLine(error)), refused: true };
  }
  if (result !== null && result !== undefined) {
    return { text: cut(resultText(result)), refused: isRecord(result) && result['is_error'] === true };
  }
  const field = TEXT_FIELDS.map((name) => observation[name]).find((value) => typeof value === 'string');
  if (typeof field === 'string') return { text: cut(field), refused: refused === true };
  const rest = Object.entries(observation).filter(([name, value]) => value !== null && !NOT_TEXT.includes(name));
  return { text: rest.length === 0 ? '' : cut(jsonLine(Object.fromEntries(rest))), refused: refused === true };
}

/**
 * The text of a tool's result: the result itself if it is text, the texts of an MCP result, or any other value as JSON.
 */
function resultText(result: unknown): string {
  if (typeof result === 'string') return result;
  if (!isRecord(result)) return jsonLine(result);
  const { content, data } = result;
  if (Array.isArray(content)) {
    const texts = content.flatMap((part: unknown) =>
      isRecord(part) && typeof part['text'] === 'string' ? [part['text']] : [],
    );
    if (texts.length > 0) return texts.join('\n');
  }
  if (typeof data === 'string') return data;
  return jsonLine(data ?? result);
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT_LENGTH);
}
