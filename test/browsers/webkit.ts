import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { installed, MissingProgramError, onPath, type Tab } from './tab.ts';

/** A display for windows that nobody looks at, where there is none: its name, and what ends it. Throws MissingProgramError. */
async function display(): Promise<{ readonly name: string; readonly server: ChildProcess | null }> {
  const own = process.env['DISPLAY'] ?? process.env['WAYLAND_DISPLAY'];
  if (own !== undefined && own !== '') return { name: process.env['DISPLAY'] ?? '', server: null };
  const program = installed('XVFB_PATH', onPath('Xvfb'));
  if (program === undefined) {
    throw new MissingProgramError('no display here, and no Xvfb to make one; install it (Debian: xvfb)');
  }
  const args = ['-displayfd', '3', '-screen', '0', '1600x1200x24', '-nolisten', 'tcp'];
  const server = spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const number = await new Promise<string>((resolve, reject) => {
    server.stdio[3]?.once('data', (text: Buffer) => resolve(text.toString().trim()));
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`Xvfb ended with ${String(code)}`)));
  });
  return { name: `:${number}`, server };
}

/** A port that nobody listens on. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

/** The name under which WebDriver hands over elements. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

/** Starts WebKitGTK's small browser and steers it by WebDriver. Throws MissingProgramError. */
export async function openWebKit({ width, height }: { readonly width: number; readonly height: number }): Promise<Tab> {
  const program = installed('WEBKIT_DRIVER_PATH', onPath('WebKitWebDriver'));
  if (program === undefined) {
    throw new MissingProgramError(
      'no WebKitWebDriver here; install it (Debian: webkit2gtk-driver) or set WEBKIT_DRIVER_PATH',
    );
  }
  const { name, server } = await display();
  const port = await freePort();
  // Safari gives isolated pages shared memory; this browser does so only if it's told to
  const env = { ...process.env, DISPLAY: name, JSC_useSharedArrayBuffer: '1' };
  const driver = spawn(program, [`--port=${port}`], { stdio: 'ignore', env });
  const ended = new Promise((resolve) => driver.once('exit', resolve));
  const send = async <T>(method: 'GET' | 'POST' | 'DELETE', where: string, body?: object): Promise<T> => {
    const options = body ? { method, body: JSON.stringify(body) } : { method };
    const response = await fetch(`http://127.0.0.1:${port}${where}`, options);
    const { value } = (await response.json()) as { value: T & { error?: string; message?: string } };
    if (!response.ok) throw new Error(`WebKitWebDriver: ${value.error ?? response.status}: ${value.message ?? ''}`);
    return value;
  };
  let session = '';
  const close = async () => {
    if (session !== '') await send('DELETE', session).catch(() => undefined);
    driver.kill();
    await ended;
    server?.kill();
  };
  try {
    const listens = () =>
      send<{ ready: boolean }>('GET', '/status').then(
        ({ ready }) => ready,
        () => false, // not yet
      );
    while (driver.exitCode === null && !(await listens())) await new Promise((resolve) => setTimeout(resolve, 100));
    const { sessionId, capabilities } = await send<{
      sessionId: string;
      capabilities: { browserName: string; browserVersion: string };
    }>('POST', '/session', { capabilities: { alwaysMatch: { timeouts: { script: 300_000, pageLoad: 120_000 } } } });
    session = `/session/${sessionId}`;
    const size = { width, height };
    await send('POST', `${session}/window/rect`, size);
    const value = (expression: string) => {
      const script = `const done = arguments[arguments.length - 1];
        Promise.resolve(${expression}).then((value) => done({ value }), (error) => done({ error: String(error) }));`;
      return send<{ value?: unknown; error?: string }>('POST', `${session}/execute/async`, { script, args: [] }).then(
        (got) => {
          if (got.error !== undefined) throw new Error(got.error);
          return got.value;
        },
      );
    };
    return {
      browser: `${capabilities.browserName} of WebKitGTK ${capabilities.browserVersion}`,
      open: (url) => send('POST', `${session}/url`, { url }),
      value,
      act: (actions) => send('POST', `${session}/actions`, { actions: [actions] }),
      choose: async (selector, file) => {
        const found = { using: 'css selector', value: selector };
        const { [ELEMENT]: id } = await send<Record<string, string>>('POST', `${session}/element`, found);
        await send('POST', `${session}/element/${String(id)}/value`, { text: file });
      },
      picture: async () => Buffer.from(await send<string>('GET', `${session}/screenshot`), 'base64'),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
