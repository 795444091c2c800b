import { expect, vi } from 'vitest';

// Files of one process share its modules and globals. A test of the page begins with stores of its own, and every file without what the
// file before it put in the place of a global.
vi.unstubAllGlobals();
if (expect.getState().testPath?.includes('/test/ui/')) vi.resetModules();
