import { describe, expect, it } from 'vitest';
import { isServerAddress, readServerAddress, serverFile } from '../../src/domain/serverAddress.ts';

describe('the address of a server', () => {
  it.each([
    ['ws://127.0.0.1:8000/ws', 'ws://127.0.0.1:8000/ws', '127.0.0.1:8000'],
    [' ws://localhost:9 ', 'ws://localhost:9/ws', 'localhost:9'],
    ['ws://localhost:8000/my/ws?turns=3&solved=.5', 'ws://localhost:8000/my/ws', 'localhost:8000'],
  ])('%s is %s', (text, url, host) => {
    expect(readServerAddress(text)).toMatchObject({ url, host });
  });

  it('holds options that the server isn’t told', () => {
    const { options, url, text } = readServerAddress('ws://localhost:8000/ws?turns=3&train=400');
    expect(options).toEqual({ train: 400, test: null, turns: 3, observation: 64, solved: 1, seconds: 30 });
    expect(url).not.toContain('?');
    expect(readServerAddress(text).options).toEqual(options);
  });

  it.each([
    ['', /Write the server/],
    ['http://127.0.0.1:8000', /Write ws:/],
    ['wss://127.0.0.1:8000/ws', /this machine/],
    ['ws://192.168.0.7:8000/ws', /this machine.*forward/],
    ['ws://127.0.0.1.example.org/ws', /this machine/],
    ['ws://127.0.0.2/ws', /this machine/],
    ['ws://[::1]:8000/ws', /this machine/],
    ['ws://localhost@example.org/ws', /this machine/],
    ['ws://me:secret@localhost/ws', /Leave them out/],
    ['ws://localhost/ws#x', /Leave them out/],
    ['ws://localhost/ws?color=red', /isn’t an option.*turns/],
    ['ws://localhost/ws?turns=0', /whole number from 1 to 64/],
    ['ws://localhost/ws?turns=2.5', /whole number/],
    ['ws://localhost/ws?seconds=soon', /from 1 to 600/],
    [`ws://localhost/ws?${'x'.repeat(600)}`, /isn’t a server/],
    ['ftp://localhost', /isn’t a server/],
  ])('%s is refused with the reason', (text, why) => {
    expect(() => readServerAddress(text)).toThrow(why);
  });

  it('is told from a program, and kept as the file of a run', () => {
    const { text } = readServerAddress('ws://localhost:8000/ws');
    expect(serverFile(readServerAddress(text))).toEqual({ name: 'localhost:8000', text });
    expect(isServerAddress(` ${text}\n`)).toBe(true);
    expect(isServerAddress(`// ${text}\nexport default class A {}`)).toBe(false);
    expect(isServerAddress(`${text}\nexport default class A {}`)).toBe(false);
  });
});
