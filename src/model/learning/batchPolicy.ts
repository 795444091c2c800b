import { freeGrammar, type Grammar, type TokenRecord } from '../../domain/tokens.ts';
import type { ModelConfig } from '../architecture.ts';
import type { DecodeChunk, DecodedChunk, DrawCounters, Sampling } from '../decoding.ts';
import type { LearningMath } from '../learningMath.ts';
import type { CreditInput, EngineCounters, SuppliedCredit, PolicySpec } from '../policy.ts';
import type { EpochWeights, PolicyReport, StepStats } from '../policyReport.ts';
import type { CreditSettings } from '../learningSettings.ts';
import { type Batch, clearBatch, createBatch, loadBatch, createReport, withEpoch, writeCredit } from './batchArrays.ts';
import type { Decoder } from './decoder.ts';
import type { Precision } from './real.ts';

/** What CPU and GPU share if the batch is in this thread's memory: drawing tokens, credit, the report. */
export abstract class BatchPolicy {
  readonly model: ModelConfig;
  readonly rows: number;
  readonly length: number;
  protected readonly batch: Batch;
  protected readonly math: LearningMath;
  protected abstract readonly decoder: Decoder;
  protected grammar: Grammar;
  protected submits = 0;
  #readbacks = 0;
  #sampling: Sampling | null = null;
  #steps: StepStats[] = [];
  #epochs: readonly EpochWeights[] = [];

  constructor({ model, rows, length, teacher }: PolicySpec, math: LearningMath, precision: Precision) {
    this.model = model;
    this.rows = rows;
    this.length = length;
    this.math = math;
    this.grammar = freeGrammar(model.vocab_size);
    this.batch = createBatch(rows, length, precision, teacher ? model.vocab_size : 0);
  }

  setGrammar(grammar: Grammar): void {
    if (grammar.vocabulary !== this.model.vocab_size) {
      throw new Error(
        `setGrammar: the grammar has ${grammar.vocabulary} tokens, and the model has ${this.model.vocab_size}.`,
      );
    }
    this.grammar = grammar;
  }

  begin(sampling: Sampling): void {
    clearBatch(this.batch);
    this.batchChanged();
    this.decoder.begin(sampling.update);
    this.#sampling = sampling;
  }

  beginRow(row: number, counters: DrawCounters): void {
    this.decoder.beginRow(row, counters);
  }

  async decode(chunk: DecodeChunk): Promise<DecodedChunk> {
    if (!this.#sampling) throw new Error('decode: nothing was begun; call begin first.');
    this.submits++;
    this.#readbacks++;
    this.batchChanged();
    return this.decoder.decode(chunk, this.#sampling, this.grammar);
  }

  load(record: TokenRecord, supplied?: SuppliedCredit): void {
    loadBatch(this.batch, record, this.model.vocab_size, supplied);
    this.batchChanged();
    this.decoder.clearCache();
  }

  credit(input: CreditInput, settings: CreditSettings): void {
    this.#epochs = [];
    writeCredit(this.batch, this.math.credit({ ...this.batch, values: this.batch.oldValues }, input, settings));
  }

  endEpoch(): void {
    this.#epochs = withEpoch(this.#epochs, this.batch);
  }

  report(): Promise<PolicyReport> {
    this.#readbacks++;
    const [epochs, steps] = [this.#epochs, this.#steps];
    [this.#epochs, this.#steps] = [[], []];
    return Promise.resolve(createReport(this.batch, epochs, steps));
  }

  counters(): EngineCounters {
    return { dispatches: 0, submits: this.submits, readbacks: this.#readbacks, uploadBytes: 0, creations: 0 };
  }

  whenIdle(): Promise<void> {
    return Promise.resolve(); // nothing to wait for: each method finishes its work before it returns or resolves
  }

  destroy(): void {
    this.#sampling = null;
  }

  protected recordStep(stats: StepStats): void {
    this.submits++;
    this.#steps.push(stats);
  }

  /** Called when the batch, or the weights that scored it, change: a subclass drops the results of passes that it has cached. */
  protected batchChanged(): void {
    return;
  }
}
