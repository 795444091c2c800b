/** The texts that say what a text model speaks, as its folder has them. */
export interface ChatTokenizerFiles {
  readonly tokenizer: string; // tokenizer.json
  readonly template: string; // chat_template.jinja
  readonly stops: readonly number[]; // eos_token_id of generation_config.json
}
