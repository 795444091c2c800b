import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { repacked } from '../scripts/png.mjs';

const [WIDTH, HEIGHT, BYTES] = [40, 10, 3];
const stride = WIDTH * BYTES;
/** Flat areas with an edge in each row: what a screenshot is made of. */
const pixel = (x: number, y: number, channel: number) => (x < 7 * y ? 30 + channel : (200 + 17 * y * channel) % 256);
const row = (y: number) => Array.from({ length: stride }, (_, i) => pixel(Math.floor(i / BYTES), y, i % BYTES));

function chunk(type: string, data: Buffer): Buffer {
  const out = Buffer.alloc(data.length + 12);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  data.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
  return out;
}

/** A PNG whose row y is written as the difference of kind y mod 5, as the specification has them. */
function png(colour: number): Buffer {
  const rows = Array.from({ length: HEIGHT }, (_, y) => {
    const [now, above] = [row(y), y > 0 ? row(y - 1) : new Array<number>(stride).fill(0)];
    const kind = y % 5;
    const differences = now.map((value, i) => {
      const [a, b, c] = [i >= BYTES ? now[i - BYTES]! : 0, above[i]!, i >= BYTES ? above[i - BYTES]! : 0];
      const p = a + b - c;
      const nearest = [a, b, c].reduce((best, each) => (Math.abs(p - each) < Math.abs(p - best) ? each : best));
      return (value - [0, a, b, Math.floor((a + b) / 2), nearest][kind]! + 256) & 255;
    });
    return Buffer.from([kind, ...differences]);
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header.set([8, colour, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  // kept long, so that what comes back is never the picture as it was
  const body = deflateSync(Buffer.concat(rows), { level: 0 });
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', body), chunk('IEND', Buffer.alloc(0))]);
}

test('a picture packed anew has every pixel it had, from each of the five kinds of row, in fewer bytes', () => {
  const small = repacked(png(2));
  expect(small.length).toBeLessThan(png(2).length);
  const at = small.indexOf('IDAT') + 4;
  const rows = inflateSync(small.subarray(at, at + small.readUInt32BE(at - 8)));
  for (let y = 0; y < HEIGHT; y++) {
    expect([...rows.subarray(y * (stride + 1), (y + 1) * (stride + 1))]).toEqual([0, ...row(y)]);
  }
});

test('a picture of another colour type comes back as it is', () => {
  expect(repacked(png(6)).equals(png(6))).toBe(true);
});
