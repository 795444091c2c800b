import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { WebSocket } from 'ws';
import { installed, MissingProgramError, onPath, type Tab } from './tab.ts';

/** Where Firefox is, by `FIREFOX_PATH` or in its usual places. Throws MissingProgramError. */
function firefoxHere(): string {
  const found = installed('FIREFOX_PATH', [
    ...onPath('firefox'),
    ...onPath('firefox-esr'),
    '/Applications/Firefox.app/Contents/MacOS/firefox',
  ]);
  if (found !== undefined) return found;
  throw new MissingProgramError('no Firefox here; install one (Debian: firefox-esr) or set FIREFOX_PATH');
}

/** WebGPU on, also where Firefox doesn't offer it yet; no page of its own at the start. */
const PREFERENCES = {
  'dom.webgpu.enabled': true,
  'gfx.webgpu.ignore-blocklist': true,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
};

/** What BiDi sends: an answer to a command, or an event. */
interface Message {
  readonly id?: number;
  readonly type: string;
  readonly message?: string;
  readonly result?: unknown;
}

/** Sends commands over a socket and hands back their answers. */
async function connect(address: string) {
  const socket = new WebSocket(address);
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.on('message', (data: Buffer) => {
    const { id, type, message, result } = JSON.parse(data.toString()) as Message;
    const asked = id === undefined ? undefined : waiting.get(id);
    if (type === 'success') asked?.resolve(result);
    else asked?.reject(new Error(message ?? type));
  });
  socket.on('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('Firefox closed the connection'));
  });
  let last = 0;
  return <T>(method: string, params: object): Promise<T> =>
    new Promise<unknown>((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      socket.send(JSON.stringify({ id: last, method, params }));
    }) as Promise<T>;
}

/** What `script.evaluate` answers. */
interface Evaluated {
  readonly type: 'success' | 'exception';
  readonly result?: { readonly value?: string; readonly sharedId?: string };
  readonly exceptionDetails?: { readonly text: string };
}

/** Starts Firefox without a window and steers it by WebDriver BiDi. Throws MissingProgramError. */
export async function openFirefox({
  width,
  height,
}: {
  readonly width: number;
  readonly height: number;
}): Promise<Tab> {
  const program = firefoxHere();
  const profile = await mkdtemp(path.join(tmpdir(), 'firefox-'));
  const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`);
  await writeFile(path.join(profile, 'user.js'), lines.join(''));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  const firefox = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => firefox.once('exit', resolve));
  const stop = async () => {
    firefox.kill();
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    let said = '';
    const address = await new Promise<string>((resolve, reject) => {
      firefox.stderr.on('data', (text: Buffer) => {
        said += text.toString();
        const found = /WebDriver BiDi listening on (ws:\S+)/.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      });
      firefox.once('error', reject);
      firefox.once('exit', (code) => reject(new Error(`Firefox ended with ${String(code)}: ${said.slice(-1000)}`)));
    });
    const send = await connect(`${address}/session`);
    const { capabilities } = await send<{ capabilities: { browserName: string; browserVersion: string } }>(
      'session.new',
      { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } },
    );
    const { contexts } = await send<{ contexts: readonly { context: string }[] }>('browsingContext.getTree', {});
    const context = contexts[0]?.context ?? '';
    await send('browsingContext.setViewport', { context, viewport: { width, height } });
    const evaluate = async (expression: string) => {
      const options = { target: { context }, awaitPromise: true, userActivation: true };
      const got = await send<Evaluated>('script.evaluate', { expression, ...options });
      if (got.type === 'exception') throw new Error(got.exceptionDetails?.text);
      return got.result;
    };
    return {
      browser: `Firefox ${capabilities.browserVersion}`,
      open: async (url) => {
        await send('browsingContext.navigate', { context, url, wait: 'complete' });
      },
      value: async (expression) => {
        // as text: BiDi writes objects as lists of typed pairs
        const text = (await evaluate(`Promise.resolve(${expression}).then((value) => JSON.stringify(value))`))?.value;
        return text === undefined ? undefined : (JSON.parse(text) as unknown);
      },
      act: async (actions) => {
        await send('input.performActions', { context, actions: [actions] });
      },
      choose: async (selector, file) => {
        const sharedId = (await evaluate(`document.querySelector(${JSON.stringify(selector)})`))?.sharedId;
        await send('input.setFiles', { context, element: { sharedId }, files: [file] });
      },
      picture: async () => {
        const { data } = await send<{ data: string }>('browsingContext.captureScreenshot', { context });
        return Buffer.from(data, 'base64');
      },
      close: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
