// npm run layers: the imports of src go one way, as tools/layers.mjs has it.
import { importsOf, missingFiles, sourcesOfTree, violations } from '../tools/imports.mjs';

const sources = sourcesOfTree();
const imports = sources.flatMap(importsOf);
const faults = [...violations(sources, imports), ...missingFiles(imports)];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log(`layers: ${sources.length} files, ${imports.length} imports, all one way`);
