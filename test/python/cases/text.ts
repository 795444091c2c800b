// Writes what this project makes of 10,000 strings, 4,000 of them of tokens at random, of ids at random, of 200 conversations and of small templates, with the tokenizers
// and chat templates of SmolLM2, Qwen2.5, Qwen3 and the shipped agent, beside what each was made from.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Purpose, random } from '../../../src/base/rng.ts';
import { readGgufHeader } from '../../../src/formats/ggufHeader.ts';
import { type ChatTemplate, chatTemplate, jinja } from '../../../src/text/chatTemplate.ts';
import type { Codec } from '../../../src/text/codec.ts';
import { assistantMessage, dialectOf, turnText } from '../../../src/text/dialect.ts';
import { codecFromGguf } from '../../../src/text/ggufVocabulary.ts';
import { hermesFormat } from '../../../src/text/hermes.ts';
import { codecFromTokenizerJson } from '../../../src/text/tokenizerFile.ts';
import { type ToolFace, toolSchema } from '../../../src/text/toolSchema.ts';
import { conversations } from '../../text/conversations.ts';
import { RAISING, SNIPPETS } from '../../text/snippets.ts';
import { awkwardStrings } from '../../text/strings.ts';
import { onDisk, qwen, readJson, smollm2 } from '../packages.ts';

const AWKWARD = 6000;
const OF_TOKENS = 4000;
const DRAWN = 2000;
const CONVERSATIONS = 200;
const out = process.argv[2] ?? '.';
const write = (name: string, value: unknown) => writeFileSync(path.join(out, name), JSON.stringify(value));

/** A tokenizer with its chat template, and what the template may name. */
interface Speaker {
  readonly codec: Codec;
  readonly template: string;
  readonly tokens: Readonly<Record<string, string>>;
}

async function fromGguf(): Promise<Speaker> {
  const header = await readGgufHeader(onDisk(smollm2()));
  const codec = codecFromGguf(header);
  const token = (key: string) => codec.decode([Number(header.metadata.get(`tokenizer.ggml.${key}_token_id`))]);
  const tokens = { bos_token: token('bos'), eos_token: token('eos') };
  return { codec, template: String(header.metadata.get('tokenizer.chat_template')), tokens };
}

function fromNpm(name: 'qwen2_5' | 'qwen3'): Speaker {
  const file = path.join(qwen(name), 'tokenizer.json');
  copyFileSync(file, path.join(out, `${name}.tokenizer.json`));
  const { chat_template: template, eos_token } = readJson(path.join(qwen(name), 'tokenizer_config.json')) as Record<
    string,
    string
  >;
  return {
    codec: codecFromTokenizerJson(readFileSync(file)),
    template: template ?? '',
    tokens: { eos_token: eos_token ?? '' },
  };
}

function shipped(): Speaker {
  const folder = path.join('public', 'models', 'agent');
  const file = path.join(folder, 'tokenizer.json');
  copyFileSync(file, path.join(out, 'agent.tokenizer.json'));
  const template = readFileSync(path.join(folder, 'chat_template.jinja'), 'utf8');
  return { codec: codecFromTokenizerJson(readFileSync(file)), template, tokens: {} };
}

const speakers = {
  smollm2: await fromGguf(),
  ...{ qwen2_5: fromNpm('qwen2_5'), qwen3: fromNpm('qwen3'), agent: shipped() },
};
const written = [
  '<|im_start|>',
  '<|im_end|>',
  '<|endoftext|>',
  '<think>',
  '</think>',
  '<tool_call>',
  '</tool_call>',
  '<|im_start',
  '<file_sep>',
];
const awkward = awkwardStrings(AWKWARD, 20261123, written);
const talk = conversations(CONVERSATIONS, 20261123);
write('conversations.json', talk);
for (const [name, { codec, template, tokens }] of Object.entries(speakers)) {
  const { int } = random(7, Purpose.environment);
  const idsAtRandom = () => Array.from({ length: 1 + int(24) }, () => int(codec.size));
  const strings = [...awkward, ...Array.from({ length: OF_TOKENS }, () => codec.decode(idsAtRandom()))];
  const start = performance.now();
  const ids = strings.map((string) => codec.encode(string));
  const seconds = (performance.now() - start) / 1000;
  const drawn = Array.from({ length: DRAWN }, idsAtRandom);
  const texts = (lists: readonly (readonly number[])[]) => lists.map((list) => codec.decode(list));
  write(`${name}.ids.json`, { strings, ids, texts: texts(ids), drawn, drawnTexts: texts(drawn), seconds });
  const { write: say } = chatTemplate(template, tokens, name);
  const said = talk.map(({ messages, tools, asks }) => say(messages, tools, asks));
  write(`${name}.said.json`, { template, tokens, said });
  write(`${name}.episode.json`, episode(codec, chatTemplate(template, tokens, name)));
}
write(
  'snippets.json',
  SNIPPETS.map(([source, variables]) => ({ source, variables, written: jinja(source)(variables) })),
);
write('raising.json', RAISING);

/** An episode's ids, turn by turn as they are forced and drawn, beside the conversation that they are. Throws where the template rewrites what was said. */
function episode(codec: Codec, template: ChatTemplate) {
  const look: ToolFace = {
    name: 'look',
    description: 'Looks into a place.',
    parameters: ['place', { name: 'times', type: 'integer' }],
  };
  const format = hermesFormat({ codec, template, tools: [look] });
  const dialect = dialectOf(template, [toolSchema(look)]);
  const beginning = { system: 'You look into boxes.', question: 'What is in the box?' };
  const turns = [
    { tool: 'look', values: { place: 'box', times: 2 } },
    { tool: 'look', values: { place: 'a "box"' }, thought: 'It may be in there.' },
    { tool: 'look', values: { place: '箱子\n', times: 1 } },
  ];
  const observations = ['nothing', '{"found": "a key 👍"}', 'Two lines.\n\n And more. '];
  const ids = [...format.promptIds(beginning)];
  const messages = [...dialect.startMessages(beginning)];
  turns.forEach((turn, i) => {
    const observation = observations[i] ?? '';
    ids.push(...format.turnIds(turn), ...format.observationIds(observation, true));
    messages.push(assistantMessage(turnText(turn, false)), dialect.observationMessage(observation));
  });
  return { ids, messages, tools: dialect.tools };
}
