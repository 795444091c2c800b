import type { LearningMath } from '../model/learningMath.ts';
import { credit } from './credit.ts';
import { objective } from './objective.ts';

/** The RL math in plain TypeScript. The CPU backend uses it, and the WGSL kernels are tested against it. */
export const learningMath: LearningMath = { credit, objective };
