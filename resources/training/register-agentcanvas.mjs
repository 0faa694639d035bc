// Lets Node run the nodeset's sources as they are: the bare import `agentcanvas` becomes the app's own module.
import { registerHooks } from 'node:module';

const authorModule = new URL('../../main/nodeset/author/agentcanvas.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'agentcanvas' ? { url: authorModule, shortCircuit: true } : next(specifier, context),
});
