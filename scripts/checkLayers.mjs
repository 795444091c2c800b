// npm run layers: dependency-cruiser over src. Through its API, because its command line is content with zero modules.
import { readdirSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const options = await extractConfig('./.dependency-cruiser.mjs');
const { output } = await cruise(['src'], { ...options, validate: true }, undefined, {
  tsConfig: extractTsConfig('tsconfig.json'),
});
if (typeof output === 'string') throw new Error(output);

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
const seen = output.modules.filter(({ source }) => /^src\/.*\.tsx?$/.test(source));
const { violations } = output.summary;
for (const { from, to, rule } of violations) console.error(`${rule.name}: ${from} → ${to}`);
if (seen.length < files.length) {
  console.error(`dependency-cruiser saw ${seen.length} of the ${files.length} files in src; it checks nothing then.`);
}
if (violations.length > 0 || seen.length < files.length) process.exit(1);
console.log(`layers: ${seen.length} files, ${output.summary.totalDependenciesCruised ?? 0} imports, all one way`);
