// Requests about what is trusted.
import { contentAt, trustPlacesOf } from './code-trust.ts';
import type { Handlers } from './dispatch.ts';
import type { HandlerServices } from './request-handlers.ts';

type TrustRequests = Extract<keyof Handlers, `trust.${string}`>;

export function createTrustHandlers({
  access,
  registry,
  settings,
}: HandlerServices): Pick<Handlers, TrustRequests> {
  const { trust } = access;
  return {
    'trust.list': async () => ({
      folders: [...(await trust.folders())],
      contents: [...(await trust.contents())],
    }),
    'trust.add': async ({ folder }) => {
      await trust.add(folder);
      await registry.scan();
      return {};
    },
    'trust.remove': async ({ folder }) => {
      await trust.remove(folder);
      return {};
    },
    'trust.addContent': async ({ path, hash }) => {
      const { nodesetFolders } = trustPlacesOf(access, settings());
      const content = hash === undefined ? await contentAt(path, nodesetFolders) : { path, hash };
      await trust.addContent(content);
      await registry.scan();
      return content;
    },
    'trust.removeContent': async ({ path }) => {
      await trust.removeContent(path);
      return {};
    },
  };
}
