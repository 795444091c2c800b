import { readFile } from 'node:fs/promises';
import { NODE_SOCKETS } from '../../src/cli/nodeSockets.ts';
import { parseConfig } from '../../src/config/config.ts';
import { SERVER_PRESET } from '../../src/config/presets.ts';
import type { ToolEnv } from '../../src/envs/env.ts';
import { envSettings } from '../../src/envs/index.ts';
import { answerAll, releaseAll, openAll, type Stepper } from '../../src/envs/stepper.ts';
import type { SocketHost } from '../../src/openenv/serverConnection.ts';
import { openServer } from '../../src/openenv/openServer.ts';
import { chatTokenizerOf } from '../../src/session/environment.ts';
import { hermesFormat } from '../../src/text/hermes.ts';
import type { WrittenTurn } from '../../src/text/turnFormat.ts';

export const shippedFile = async (path: string): Promise<ArrayBuffer> => {
  const { buffer, byteOffset, byteLength } = await readFile(new URL(`../../public/${path}`, import.meta.url));
  return buffer.slice(byteOffset, byteOffset + byteLength);
};
const CONFIG = parseConfig({ ...SERVER_PRESET.set, invalidPenalty: 0.5 });
const settings = envSettings(CONFIG);

/** Sockets of Node whose clock runs twenty times as fast. */
export const HASTY: SocketHost = { ...NODE_SOCKETS, setTimer: (ms, ring) => NODE_SOCKETS.setTimer(ms / 20, ring) };

/** The tokenizer of the text agent that is shipped. */
async function agentTokenizer() {
  const tokenizer = await chatTokenizerOf(CONFIG, null, { shippedFile });
  if (!tokenizer) throw new Error('no tokenizer');
  return tokenizer;
}

/** A server as an environment of that agent. */
export async function serverEnv(address: string, place = HASTY): Promise<ToolEnv> {
  return openServer(address, place).environment({ chatTokenizer: await agentTokenizer(), think: false });
}

/** Opens episodes of a split, plays the same turns in all of them, and gives them up. */
export async function playTurns(
  env: ToolEnv,
  seeds: readonly number[],
  turnsOf: (stepper: Stepper) => readonly WrittenTurn[],
  between: () => Promise<void> = () => Promise.resolve(),
): Promise<readonly Stepper[]> {
  const { codec, template } = await agentTokenizer();
  const tools = env.tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const format = hermesFormat({ codec, template, tools });
  const steppers = await openAll(
    { env, settings },
    seeds.map((seed) => ({ seed, environmentSeed: seed })),
  );
  try {
    for (let turn = 0; steppers.some(({ stop }) => stop === null); turn++) {
      for (const stepper of steppers) {
        const said = turnsOf(stepper)[turn];
        if (stepper.stop === null && said) for (const id of format.turnIds(said)) stepper.take(id);
      }
      await between();
      if (steppers.every(({ pendingTurn: asked }) => asked === null)) break;
      await answerAll(steppers);
    }
    return steppers;
  } finally {
    releaseAll(steppers);
  }
}

/** What an episode says, as text. */
export async function spoken({ tokens: written }: Stepper): Promise<string> {
  const { codec } = await agentTokenizer();
  return codec.decode(written.map(({ token }) => token));
}
