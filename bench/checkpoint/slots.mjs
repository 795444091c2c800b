// Runs programs in turns, each in a process of its own, so that all of them meet the same minutes of the machine and their memory is their own.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { spread } from '../timing.mjs';
import { load } from './machine.mjs';

/**
 * @typedef {{ name: string, command: string, args: readonly string[], env?: Readonly<Record<string, string>> }} Slot
 * @typedef {{ slot: string, round: number, loadBefore: number, loadAfter: number, [key: string]: unknown }} Record_
 */

/** What a program prints in its last line, as JSON. @param {Slot} slot @returns {Promise<Record<string, unknown>>} */
function printed({ name, command, args, env }) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  const stop = () => child.kill();
  process.once('exit', stop);
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (/** @type {Buffer} */ chunk) => (text += chunk.toString()));
    child.on('error', (error) => reject(new Error(`${name}: ${command} could not be started: ${error.message}`)));
    child.on('exit', (code) => {
      process.removeListener('exit', stop);
      const last = text.trim().split('\n').at(-1) ?? '';
      if (code === 0 && last.startsWith('{')) resolve(JSON.parse(last));
      else reject(new Error(`${name} ended with ${code ?? 'a signal'}: ${text.slice(-400)}`));
    });
  });
}

/** A slot that runs under other programs, such as `taskset -c 1`. @param {Slot} slot @param {string} under @returns {Slot} */
export function placed(slot, under) {
  const [command, ...args] = under.split(' ').filter((word) => word !== '');
  return command ? { ...slot, command, args: [...args, slot.command, ...slot.args] } : slot;
}

/**
 * Every slot once in each round, one after the other; a slot that fails is told and left out from there on. Records are written to `raw` as they come.
 * @param {readonly Slot[]} slots @param {number} rounds @param {string | null} raw @param {(record: Record_) => void} heard
 */
export async function inTurns(slots, rounds, raw, heard) {
  /** @type {Record_[]} */
  const records = [];
  const failed = new Set();
  for (let round = 1; round <= rounds; round++) {
    // every other round the other way round: what warms or slows the machine is not always before the same one
    for (const slot of round % 2 === 1 ? slots : slots.toReversed()) {
      if (failed.has(slot.name)) continue;
      const loadBefore = load();
      try {
        const found = await printed(slot);
        const record = { slot: slot.name, round, loadBefore, loadAfter: load(), ...found };
        records.push(record);
        if (raw) appendFileSync(raw, `${JSON.stringify({ at: new Date().toISOString(), ...record })}\n`);
        heard(record);
      } catch (error) {
        failed.add(slot.name);
        console.error(error instanceof Error ? error.message : String(error));
      }
    }
  }
  return records;
}

/** Median and least of a number over a slot's records. @param {readonly Record_[]} records @param {(record: any) => number} of */
export const over = (records, of) => spread(records.map(of));
