/** The files of a text model's folder that define its tokenizer and its chat template. */
export interface ChatTokenizerFiles {
  readonly tokenizer: string; // tokenizer.json
  readonly template: string; // chat_template.jinja
  readonly stops: readonly number[]; // eos_token_id of generation_config.json
}
