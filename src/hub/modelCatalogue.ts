/**
 * Address of the hub from which models are downloaded. The page's security policy allows requests to its hosts only.
 */
export const HUB = 'https://huggingface.co';

/** A model that the page offers for download. Nothing is downloaded before somebody asks for it. */
export interface OfferedModel {
  readonly id: string; // on the hub
  readonly label: string;
  readonly parameters: number;
  readonly bytes: number; // approximate; the hub states the exact size before anything large is downloaded
  readonly license: string; // as of 2026-11; the page shows what the hub states before the download
  readonly note: string;
}

/** Small instruct models whose architecture this page can run, from the smallest. */
export const CATALOGUE: readonly OfferedModel[] = [
  {
    id: 'PleIAs/Monad',
    label: 'Monad',
    parameters: 56.7e6,
    bytes: 113e6,
    license: 'apache-2.0',
    note: 'Deep and narrow: 64 layers. Trained on machine-written questions with reasoning and answers. English.',
  },
  {
    id: 'HuggingFaceTB/SmolLM2-135M-Instruct',
    label: 'SmolLM2-135M-Instruct',
    parameters: 134_515_008,
    bytes: 271e6,
    license: 'apache-2.0',
    note: 'A good first choice. Answers in whole sentences, weak at calling tools.',
  },
  {
    id: 'HuggingFaceTB/SmolLM2-360M-Instruct',
    label: 'SmolLM2-360M-Instruct',
    parameters: 361_821_120,
    bytes: 726e6,
    license: 'apache-2.0',
    note: 'The larger version of SmolLM2-135M.',
  },
  {
    id: 'Qwen/Qwen2.5-0.5B-Instruct',
    label: 'Qwen2.5-0.5B-Instruct',
    parameters: 494_032_768,
    bytes: 1.0e9,
    license: 'apache-2.0',
    note: 'Trained to call tools. Its chat template, the format of its prompts, has a place for descriptions of tools.',
  },
  {
    id: 'Qwen/Qwen3-0.6B',
    label: 'Qwen3-0.6B',
    parameters: 596_049_920,
    bytes: 1.52e9,
    license: 'apache-2.0',
    note: 'Thinks before it answers. Of the models under a billion parameters, it is the most used for RL with tools.',
  },
];
