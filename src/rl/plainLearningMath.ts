import type { LearningMath } from '../model/learningMath.ts';
import { credit } from './credit.ts';
import { objective } from './objective.ts';

/** The plain-TypeScript RL math that the composition root hands to the CPU backend, and the oracle of the WGSL kernels. */
export const learningMath: LearningMath = { credit, objective };
