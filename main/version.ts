// The version of the product, from package.json; the bundler writes it into the code.
import manifest from '../package.json' with { type: 'json' };

export const appVersion: string = manifest.version;
