import type { TourTexts } from './shape.ts';

/** The texts of the tour, with placeholders as in `fill.ts`. */
export const TOUR: TourTexts = {
  name: 'Tour',
  at: 'Stop {at:count} of {all:count}',
  progress: 'Stops done',
  end: 'End the tour',
  over: 'The tour is over',
  finale: { title: 'That was the tour', text: 'The chapters under Learn explain more. Each has an exercise.' },
  update: 'update',
  updates: 'updates',
  stops: {
    watch: {
      title: 'Watch a token',
      text: 'Choose a hatched token. The tool wrote it, so it must not be trained.',
      result: '“{word:text}”: push {push:signed}. {trained:count} of {all:count} tool tokens are in the loss.',
    },
    first: {
      title: 'Take one update',
      text: 'Press Step one update (▶▏). The agent plays a batch of rollouts and learns from it, here in this tab.',
      result: '{updates:text} taken. {trained:count} of {all:count} tool tokens are in the loss.',
    },
    off: {
      title: 'Turn both masks off',
      text: 'Switch off the loss mask and the advantage mask (on a phone under Tune). The next update then grades words that the tool wrote.',
      result: '2 of 2 masks are off. So far {trained:count} of {all:count} tool tokens are in the loss.',
    },
    effect: {
      title: 'See the effect',
      text: 'Take one more update. If all rollouts of a task score the same, nothing is pushed. Then take another update.',
      result:
        '{trained:count} of {all:count} tool tokens are in the loss. The one pushed hardest is chosen. “{word:text}”: push {push:signed}.',
    },
    pushed: {
      title: 'What did it push?',
      text: 'Choose another word of the tool (O) that was pushed: ▲ likelier, ▼ less likely. The agent is now taught to write the tool’s words.',
      result: '“{word:text}”: push {push:signed}, and the agent never wrote it.',
    },
    on: {
      title: 'Turn the masks on again',
      text: 'Switch the loss mask on (on a phone under Tune). The advantage mask follows by itself.',
      result: '2 of 2 masks are on. In the last batch {trained:count} of {all:count} tool tokens are in the loss.',
    },
    check: {
      title: 'Check the effect',
      text: 'Take one more update.',
      result: '{trained:count} of {all:count} tool tokens are in the loss again.',
    },
    predict: {
      title: 'Learn them as a prediction',
      text: 'Set Observation loss λ to 0.05 (under Masks; on a phone under Tune) and take one update. A rollout’s reward doesn’t grade the tool’s words now: the agent learns to predict them.',
      result:
        '{trained:count} of {all:count} tool tokens are graded, {predicted:count} are predicted. “{word:text}”: push {push:signed}, upwards whatever the reward.',
    },
    learn: {
      title: 'Let it learn',
      text: 'Press Run training, watch the curve Training success for {least:count} updates or more, then press Pause.',
      result: 'Training success: {before:percent} → {after:percent} in {updates:text}.',
    },
  },
};
