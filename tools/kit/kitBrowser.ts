import { createReadStream, existsSync, realpathSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { Browser, Page } from 'playwright';
import { launchOptions } from '../../scripts/browser.mjs';
import { ISOLATION } from '../../scripts/page-policy.mjs';
import { fileAt } from '../../scripts/page-server.mjs';

const TYPES: Readonly<Record<string, string>> = { js: 'text/javascript', html: 'text/html', wasm: 'application/wasm' };
const EMPTY_PAGE = '<!doctype html><title>kit</title>';

/** Serves the folder of the kit, the shipped files of `public`, and the checkpoint's file as /model.gguf. */
function serveKit(folder: string, model: string | null): Promise<Server> {
  const roots = [folder, `${folder}/public`].filter(existsSync).map((root) => realpathSync(root));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const address = pathname.endsWith('/') && pathname !== '/' ? `${pathname}index.html` : pathname;
    const found = address === '/model.gguf' ? model : roots.map((root) => fileAt(root, address)).find(Boolean);
    const type = TYPES[address.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
    for (const [name, value] of Object.entries(ISOLATION)) response.setHeader(name, value);
    if (pathname === '/') response.setHeader('content-type', 'text/html').end(EMPTY_PAGE);
    else if (!found) response.writeHead(404).end();
    else {
      response.setHeader('content-type', type).setHeader('content-length', statSync(found).size);
      createReadStream(found).pipe(response);
    }
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** One browser session whose pages are opened when they are needed, and opened anew after it was killed. */
export class KitBrowser {
  readonly #base: string;
  readonly #server: Server;
  readonly #pages = new Map<string, Promise<Page>>();
  #browser: Promise<Browser> | null = null;
  #hardware = true;
  version = '';

  private constructor(server: Server) {
    const address = server.address();
    this.#server = server;
    this.#base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`;
  }

  static async open(folder: string, model: string | null): Promise<KitBrowser> {
    return new KitBrowser(await serveKit(folder, model));
  }

  get base(): string {
    return this.#base;
  }

  /** Takes the machine's own GPU (as at first) or a software adapter from now on. */
  async useHardware(hardware: boolean): Promise<void> {
    await this.kill();
    this.#hardware = hardware;
  }

  async #started(): Promise<Browser> {
    const { chromium } = await import('playwright').catch(() => {
      throw new Error('This kit has no browser’s driver. Pack it with npm run kit -- --full --prepare.');
    });
    const browser = await chromium.launch({ ...launchOptions(this.#hardware), headless: true });
    this.version = `Chromium ${browser.version()}`;
    return browser;
  }

  /** A fresh page in a process of its own. */
  async newPage(): Promise<Page> {
    this.#browser ??= this.#started();
    const page = await (
      await this.#browser
    ).newPage({ serviceWorkers: 'block', viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(0);
    return page;
  }

  /** Calls a function that a script of the kit exports, in the page of that name. */
  async call<T>(name: string, script: string, fn: string, ...args: readonly unknown[]): Promise<T> {
    const page = this.#pages.get(name) ?? this.newPage().then(async (fresh) => (await fresh.goto(this.#base), fresh));
    this.#pages.set(name, page);
    const code = `import(${JSON.stringify(script)}).then((m) => m[${JSON.stringify(fn)}](...${JSON.stringify(args)}))`;
    return (await page).evaluate<T>(code);
  }

  /** Closes the page of that name; a page that hangs is left behind. */
  async closePage(name: string): Promise<void> {
    const page = this.#pages.get(name);
    this.#pages.delete(name);
    await Promise.race([page?.then((open) => open.close()), new Promise((resolve) => setTimeout(resolve, 2000))]);
  }

  /** Ends the browser, whatever its pages do. */
  async kill(): Promise<void> {
    const browser = this.#browser;
    this.#browser = null;
    this.#pages.clear();
    await browser?.then((open) => open.close()).catch(() => undefined);
  }

  async end(): Promise<void> {
    await this.kill();
    this.#server.close();
  }
}
