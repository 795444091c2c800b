import type { ChatTemplate } from './chatTemplate.ts';
import type { Codec } from './codec.ts';
import { checkAppends } from './appendOnly.ts';
import { dialectOf, following, turnText } from './dialect.ts';
import { readHermes } from './hermesReading.ts';
import { controlTexts, outsideText } from './outsideText.ts';
import { type ToolFace, toolSchema } from './toolSchema.ts';
import { type TurnFormat, withoutStop } from './turnFormat.ts';

/** What hermes turns are made of. */
export interface HermesParts {
  readonly codec: Codec;
  readonly template: ChatTemplate;
  readonly tools: readonly ToolFace[];
  readonly answerTag?: boolean; // the answer stands in `<answer>`; without it, an answer is what follows without a call
}

/** What a turn is made of, which a tokenizer may have as special tokens. */
const TAGS: readonly string[] = ['<tool_call>', '</tool_call>', '<think>', '</think>', '<answer>', '</answer>'];

/**
 * Turns as a checkpoint's chat template writes them, calls as JSON in `<tool_call>`, observations as messages of role `tool`. What a
 * template cannot do is written into what it can: tools into the system prompt where it takes none (SmolLM2's), an observation into a
 * user's message within `<tool_response>` where it knows no such role. No special token is made of what a question, an observation or a
 * turn says. Throws ProblemError where the template rewrites what was said, see
 * `checkAppends`.
 */
export function hermesFormat({ codec, template, tools, answerTag = false }: HermesParts): TurnFormat {
  const schemas = tools.map(toolSchema);
  const dialect = dialectOf(template, schemas);
  checkAppends(codec, template, dialect);
  const outside = outsideText(codec);
  const markers = controlTexts(codec).filter((text) => !TAGS.includes(text));
  const turnEnd = codec.stops.map((id) => codec.decode([id]));
  return {
    codec,
    stops: codec.stops,
    promptIds: ({ system, question }) => {
      const beginning = { system: system === null ? null : outside.mark(system), question: outside.mark(question) };
      return outside.encode(template.write(dialect.begins(beginning), dialect.tools, true));
    },
    observationIds: (observation, stopped) => {
      const after = following(template, dialect, outside.mark(observation));
      const stop = turnEnd.find((end) => end !== '' && after.startsWith(end)) ?? '';
      return outside.encode(stopped ? after.slice(stop.length) : after);
    },
    turnIds: (turn) => {
      const after = following(template, dialect, '');
      const stop = codec.stops.find((_, i) => after.startsWith(turnEnd[i] ?? '')) ?? codec.stops[0];
      return [...outside.encode(turnText(turn, answerTag, outside.mark)), ...(stop === undefined ? [] : [stop])];
    },
    read: (turn, quote) =>
      readHermes(codec.decode(withoutStop(turn, codec.stops)), {
        ...{ tools: schemas, answerTag, markers },
        ...(quote && { quote }),
      }),
  };
}
